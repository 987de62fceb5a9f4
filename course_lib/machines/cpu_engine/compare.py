"""`compare`: the counts of kernels that do the same work, side by side."""

from dataclasses import dataclass

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine.report import Report
from course_lib.machines.trace_page import aligned, said, styled, table

COUNTS = ("requests", "bytes", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")


@dataclass(frozen=True)
class Comparison:
    """reports: {name: Report}, in the order given. As a notebook's value a table; print(...) is the same as text."""

    reports: dict[str, Report]

    @property
    def rows(self):
        """Dicts with space, op, count ("sectors", ..., "sectors per request"), and values: a number for each report."""
        kinds = {(row["space"], row["op"]) for one in self.reports.values() for row in one.accesses}
        rows = []
        for space, op in sorted(kinds):
            totals = {name: self._totals(name, space=space, op=op) for name in COUNTS}
            pairs = zip(totals["sectors"], totals["requests"], strict=True)
            totals["sectors per request"] = tuple(s / r if r else 0 for s, r in pairs)
            seen = {name.replace("_", " "): row for name, row in totals.items() if any(row)}
            rows += [{"space": space, "op": op, "count": n, "values": v} for n, v in seen.items()]
        return rows

    def ratio(self, name, **where):
        """One number of the last report over that of the first: ratio("sectors", space="global", op="load")."""
        first, *_, last = self._totals(name, **where)
        return last / first if first else float("nan")

    def table(self):
        """(header, rows): the counts, and for each report but the first how many times the first one's count it has."""
        first, *others = self.reports
        header = ("space", "op", "count", *self.reports, *(f"{name} / {first}" for name in others))
        rows = []
        for row in self.rows:
            base, *rest = row["values"]
            times = [f"{value / base:.3g}" if base else "" for value in rest]
            cells = [f"{v:.3g}" if isinstance(v, float) else v for v in row["values"]]
            rows.append((row["space"], row["op"], row["count"], *cells, *times))
        return header, rows

    def _totals(self, name, **where):
        return tuple(report.total(name, **where) for report in self.reports.values())

    def __str__(self):
        found = (f"{name}: {said(report)}" for name, report in self.reports.items())
        return "\n".join([*found, "", *aligned(*self.table())])

    def _repr_html_(self):
        found = table(("kernel", "found"), [(n, said(r)) for n, r in self.reports.items()], names=1)
        header, rows = self.table()
        return styled(found + f"<div class='er-wide'>{table(header, rows, names=3)}</div>")

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))


def compare(*reports, names=None):
    """A Comparison of two Reports or more. names: one for each; else the kernels' names, numbered where they are equal.

    Raises BadInput for fewer than two reports, something else, or names that do not fit.
    """
    if len(reports) < 2 or not all(isinstance(report, Report) for report in reports):
        raise BadInput("compare takes two reports or more, as trace returns them")
    kernels = [report.kernel or "kernel" for report in reports]
    if len(set(kernels)) < len(kernels):
        kernels = [f"{kernel} {i}" for i, kernel in enumerate(kernels, 1)]
    names = list(map(str, kernels if names is None else names))
    if len(set(names)) != len(reports):
        raise BadInput(f"names must be {len(reports)} different names, not {names}")
    return Comparison(dict(zip(names, reports, strict=True)))
