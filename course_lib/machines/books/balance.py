"""Do the books of all ranks agree? Only then is nothing of a cell left for the next one to meet."""

from itertools import combinations, zip_longest

MOST = 3  # sentences that are shown
# what must be the same on all ranks in a collective; all but the first two may not be known (None)
SIGNATURE = ("call", "root", "type", "operation", "bytes")
WORDS = {"root": "root {} and root {}", "bytes": "{} and {} bytes"}


def faults(accounts):
    """Sentences that say what a cell left, at most MOST; none where the accounts {rank: account.account()} agree."""
    found = [f"rank {r} {said}" for r, told in accounts.items() for said in told["open"]]
    names = sorted({name for told in accounts.values() for name in told["books"]})
    for name in names:
        told = {r: a["books"][name] for r, a in accounts.items() if name in a["books"]}
        members = next(iter(told.values()))["members"]
        found += [*_collectives(told, members), *_messages(told, members)]
    return found[:MOST]


def stuck(accounts):
    """Sentences on collectives that differ, of a cell that has not ended. accounts: {rank: account.entered()}."""
    found = []
    for name in sorted({name for told in accounts.values() for name in told}):
        told = {r: books[name] for r, books in sorted(accounts.items()) if name in books}
        first = max(before for _, before, _ in told.values())
        logs = {r: log[first - before :] for r, (_, before, log) in told.items()}
        # those that have not come so far say nothing: they may still come
        for entries in zip_longest(*logs.values()):
            there = [(r, e) for r, e in zip(logs, entries, strict=True) if e]
            pairs = [(*pair, _differs(pair[0][1], pair[1][1])) for pair in combinations(there, 2)]
            if differ := [pair for pair in pairs if pair[2] is not None]:
                (one, mine), (other, its), said = differ[0]
                found.append(f"rank {one} entered {mine[1]}, {_other(other, its, said)}")
                break
    return found[:MOST]


def senders(accounts):
    """Who sent what was too long, in sentences, as far as the books say; at most MOST."""
    found = []
    for r, told in accounts.items():
        for _, name, room, *wanted in told["short"]:
            for sender, size, sent in _sent_to(r, accounts, name, *wanted):
                if size is None or room is None or size > room:
                    what = "an object" if size is None else f"{size:,} bytes"
                    found.append(f"rank {sender} sent rank {r} {what}: {sent}")
    return found[:MOST]


def _sent_to(r, accounts, name, source, tag):
    """(rank, bytes, operation) of the longest message of each tag that was sent to rank r."""
    for sender in accounts if source is None else [source]:
        book = accounts.get(sender, {"books": {}})["books"].get(name, {"longest": {}})
        for (to, its), (size, op) in book["longest"].items():
            if to == r and tag in (None, its):
                yield sender, size, op


def _collectives(told, members):
    """The first place where the ranks did not enter the same collective."""
    logs = [told[r]["log"] if r in told else [] for r in members]
    for entries in zip_longest(*logs):
        if None not in entries and len({signature for signature, _ in entries}) == 1:
            continue
        pairs = combinations(zip(members, entries, strict=True), 2)
        for (first, mine), (other, its) in sorted(pairs, key=lambda pair: pair[0][1] is None):
            if mine and (said := _differs(mine, its)) is not None:
                yield f"rank {first} entered {mine[1]}, {_other(other, its, said)}"
                return
            if its and not mine:
                yield f"rank {other} entered {its[1]}, {_other(first, None, '')}"
                return


def _differs(mine, its):
    """How two entries differ, in words that may be empty; None where they do not, as far as is known."""
    if its is None:
        return ""
    for part, a, b in zip(SIGNATURE, mine[0], its[0], strict=False):
        if a != b and (part in ("call", "root") or None not in (a, b)):
            return "" if part == "call" else f": {WORDS.get(part, '{} and {}').format(a, b)}"
    return None


def _other(r, entry, said):
    return f"and rank {r} did not" if entry is None else f"rank {r} {entry[1]}{said}"


def _messages(told, members):
    """For each rank: as many messages as were sent to it must have been received."""
    for to in members:
        mine = told.get(to, {"got": {False: 0, True: 0}, "waiting": [], "receives": {}})
        sent = {
            pickled: sum(t["sent"].get((to, pickled), 0) for t in told.values())
            for pickled in (False, True)
        }
        if sum(sent.values()) != sum(mine["got"].values()):
            yield from _unreceived(told, to, mine)
        elif sent != mine["got"]:
            yield from _crossed(told, to, mine)


def _unreceived(told, to, mine):
    waiting = [(r, tag, told[r]["sends"].get((to, tag))) for r, tag in mine["waiting"] if r in told]
    # one that lies nowhere, since mprobe took it, or since it is on its way: the last ones that were sent
    last = [
        (r, tag, op)
        for r, t in told.items()
        for (rank, tag), op in t["sends"].items()
        if rank == to
    ]
    for r, tag, op in [w for w in waiting if w[2]] or last[-1:]:
        tagged = f" with tag {tag}" if tag else ""
        yield f"rank {r} sent rank {to} a message{tagged} that it did not receive: {op}"
    if not (waiting or last):
        yield f"rank {to} received messages that no rank has sent"


def _crossed(told, to, mine):
    """As many, but of another kind: Send to recv, or send to Recv."""
    pickled = mine["got"][False] > 0 and sum(t["sent"].get((to, True), 0) for t in told.values())
    sent = next(
        (r, op)
        for r, t in told.items()
        for (rank, _), op in t["sends"].items()
        if rank == to and op[0].islower() == bool(pickled)
    )
    got = mine["receives"].get(not pickled, "a receive")
    yield (
        f"rank {sent[0]} sent with {sent[1]} but rank {to} received it with {got}: send() goes with recv() and "
        "sends an object; Send() goes with Recv() and sends the bytes of an array"
    )
