"""Which mix of data, model, pipeline and shards for this network on this cluster, and why not its neighbours."""

from typing import NamedTuple

from course_lib.errors import BadInput
from course_lib.mpi.simulate.mixes import Price, Work, mixes, price


class Search(NamedTuple):
    """What a search found: the fastest Price that fits, and those of all mixes, the fastest first. str() tells why."""

    work: Work
    best: Price
    prices: list

    @property
    def fits(self):
        """The Prices of the mixes that fit."""
        return [found for found in self.prices if found.kept <= self.work.room]

    def of(self, *mix):
        """The Price of a mix (model, pipeline, data, stage). Raises BadInput for one that the cluster has not."""
        for found in self.prices:
            if found.mix == mix:
                return found
        raise BadInput(f"no such mix on this cluster: {mix}")

    def neighbours(self):
        """Prices one step away from the best: another stage of shards, or a factor moved between two of model,
        pipeline and data, as small a factor as there is."""
        found = [other for other in self.prices if _differ(other.mix, self.best.mix) == [3]]
        for up in range(3):
            for down in (place for place in range(3) if place != up):
                found += self._step(up, down)
        return found

    def _step(self, up, down):
        """[the Price with the next larger mix[up] at the cost of mix[down]], or []."""
        best = self.best.mix
        there = [
            other
            for other in self.prices
            if _differ(other.mix, best) == sorted((up, down)) and other.mix[up] > best[up]
        ]
        return sorted(there, key=lambda other: other.mix[up])[:1]

    def reason(self, other):
        """Why another Price loses to the best: too large, or slower, and by what."""
        told = []
        if other.kept > self.work.room:
            told.append(f"too large, {_gigabytes(other.kept)} of {_gigabytes(self.work.room)} GB")
        lost = {cause: other.causes[cause] - s for cause, s in self.best.causes.items()}
        parts = [
            f"{cause} {_signed(s)}"
            for cause, s in lost.items()
            if abs(s) >= 1e-3 * self.best.seconds
        ]
        if parts:
            gap = other.seconds - self.best.seconds
            told.append(
                f"{_ms(abs(gap))} ms {'slower' if gap > 0 else 'faster'}: {', '.join(parts)}"
            )
        elif not told:
            told.append(
                f"as fast, and keeps {_gigabytes(other.kept)}, not {_gigabytes(self.best.kept)} GB"
            )
        return "; ".join(told)

    def __str__(self):
        causes = ", ".join(f"{cause} {_ms(s)}" for cause, s in self.best.causes.items())
        lines = [
            f"{len(self.fits)} of {len(self.prices)} mixes fit; (model, pipeline, data, shards)",
            f"best {_name(self.best)}: {_ms(self.best.seconds)} ms ({causes}), {_gigabytes(self.best.kept)} GB",
        ]
        lines += [f"not  {_name(other)}: {self.reason(other)}" for other in self.neighbours()]
        return "\n".join(lines)


def search(work, cluster):
    """The Search of all mixes of a Work on a Cluster: each priced in closed form (`price`), none left out.

    Of mixes as fast as each other, that which keeps less. Raises BadInput where none fits. The formulas take little,
    so nothing is pruned: 1,024 ranks have about a hundred mixes. `run_mix` simulates one of them, event by event.
    """
    work.check()
    prices = [price(work, cluster, mix) for mix in mixes(work, cluster)]
    if not prices:
        raise BadInput(f"no mix uses all of {cluster.ranks} ranks: fewer ranks, or more rows")
    prices.sort(key=lambda found: (found.seconds, found.kept))
    fits = [found for found in prices if found.kept <= work.room]
    if not fits:
        least = min(prices, key=lambda found: found.kept)
        raise BadInput(f"no mix fits: {_name(least)} keeps least, {_gigabytes(least.kept)} GB")
    return Search(work, fits[0], prices)


def _differ(one, two):
    """At which places two mixes differ."""
    return [place for place in range(4) if one[place] != two[place]]


def _name(found):
    return str(tuple(found.mix))


def _ms(seconds):
    return f"{1e3 * seconds:,.0f}" if seconds >= 0.01 else f"{1e3 * seconds:.2g}"


def _signed(seconds):
    return ("+" if seconds > 0 else "-") + _ms(abs(seconds))


def _gigabytes(count):
    return f"{count / 1e9:.1f}" if count >= 1e8 else f"{count / 1e9:.2g}"
