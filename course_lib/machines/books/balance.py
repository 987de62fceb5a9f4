"""Do the books of all ranks agree? Only then is nothing of a cell left for the next one to meet."""

from itertools import zip_longest

MOST = 3  # sentences that are shown


def faults(accounts):
    """Sentences that say what a cell left, at most MOST; none where the accounts {rank: account.account()} agree."""
    found = [f"rank {r} {said}" for r, told in accounts.items() for said in told["open"]]
    names = sorted({name for told in accounts.values() for name in told["books"]})
    for name in names:
        told = {r: a["books"][name] for r, a in accounts.items() if name in a["books"]}
        members = next(iter(told.values()))["members"]
        found += [*_collectives(told, members), *_messages(told, members)]
    return found[:MOST]


def _collectives(told, members):
    """The first place where the ranks did not enter the same collective."""
    logs = [told[r]["log"] if r in told else [] for r in members]
    for entries in zip_longest(*logs):
        if not _alike([entry and entry[0] for entry in entries]):
            at = dict(zip(members, entries, strict=True))
            first, (signature, op) = next((r, e) for r, e in at.items() if e)
            other = next(r for r, e in at.items() if not (e and _alike([signature, e[0]])))
            yield f"rank {first} entered {op}, {_other(other, at[other], signature)}"
            return


def _alike(signatures):
    """(call, root, bytes): the same on all, as far as the bytes are known."""
    if None in signatures or len({signature[:2] for signature in signatures}) > 1:
        return False
    return len({signature[2] for signature in signatures} - {None}) < 2


def _other(r, entry, signature):
    if entry is None:
        return f"and rank {r} did not"
    (call, root, size), op = entry
    said = f"rank {r} {op}"
    if call == signature[0] and root != signature[1]:
        return f"{said}: root {signature[1]} and root {root}"
    if call == signature[0]:
        return f"{said}: {signature[2]} and {size} bytes"
    return said


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
