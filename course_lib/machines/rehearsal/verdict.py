"""What a rehearsal has to say at its end: one dict for each thing that is wrong, in full words."""

from itertools import pairwise

from course_lib.machines.rehearsal.collectives import disagreement
from course_lib.machines.rehearsal.places import in_words, place_of_error
from course_lib.machines.rehearsal.world import fits

SENDS = ("Send", "send", "Ssend", "ssend", "Sendrecv", "sendrecv")
SHOWN = 8  # ranks that a message names one by one


def verdict(world, turns):
    """The errors of a rehearsal, the worst first, while its threads stand where they were."""
    stuck = {} if turns.late else {r.index: _standing(r) for r in turns.ranks if not r.done}
    errors = _raised(turns, stuck)
    if turns.late:
        errors.append(_late(turns))
    elif not errors:
        errors += _mismatches(world, stuck) or ([_deadlock(world, turns, stuck)] if stuck else [])
    quiet = bool(errors)
    return (
        errors
        + sorted(world.findings, key=lambda e: e["rank"])
        + ([] if quiet else _leftovers(world))
    )


def error(tool, message, cause="", rank=None, ranks=None, **more):
    """One entry of Report.errors; line and code are those of `rank`."""
    ranks = ranks or {}
    first = ranks.get(rank) or next(iter(ranks.values()), {"line": None, "code": ""})
    return {
        "tool": tool,
        "rank": rank,
        "line": first["line"],
        "code": first["code"],
        "message": message,
        "cause": cause,
        "ranks": ranks,
        **more,
    }


def _standing(rank):
    """Where a rank waits."""
    op, peers = rank.waits or ("nothing: it may go on", list)
    at = {"op": op, "peers": peers(), **rank.place()}
    named = "endrecv" not in op and ("dest=" in op or "source=" in op)
    whom = "" if named or not at["peers"] else f" for {_ranks(at['peers'])}"
    return at | {"text": f"rank {rank.index} waits in {op}{whom}, {in_words(at)}"}


def _listed(texts):
    texts = list(texts)
    more = [f"... and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    return "".join(f"\n    {line}" for line in texts[:SHOWN] + more)


def _raised(turns, stuck):
    """Exceptions that left the function, the same ones of several ranks together."""
    found: dict = {}
    for rank in turns.ranks:
        if rank.error is not None:
            at = {"op": "", **(rank.error_place or place_of_error(rank.error, turns.file))}
            found.setdefault((type(rank.error), at["line"]), []).append((rank, at))
    errors = []
    for group in found.values():
        (rank, at), ranks = group[0], [r.index for r, _ in group]
        tool, said = getattr(rank.error, "rehearsal", ("exception", str(rank.error)))
        kind = "MPI." * type(rank.error).__module__.startswith("mpi4py") + type(rank.error).__name__
        who = f"rank {rank.index}" if len(ranks) == 1 else f"{len(ranks)} ranks, {ranks[0]} first,"
        did = "got a message that is too long" if tool == "truncation" else f"stopped with {kind}"
        message = f"{tool}: {who} {did}{': ' * bool(said)}{said}\n    {in_words(at)}"
        message += _listed(s["text"] for s in stuck.values())
        errors.append(
            error(
                tool,
                message,
                "",
                rank.index,
                {r.index: at for r, at in group},
                exception=rank.error,
            )
        )
    return sorted(errors, key=lambda e: e["rank"])


def _late(turns):
    rank = turns.late
    at = {"op": "", **turns.late_place}
    message = f"timeout: after {turns.timeout:g} s rank {rank.index} was still running\n    {in_words(at)}"
    return error(
        "timeout",
        message,
        "a loop that never ends, or too much work for a rehearsal",
        rank.index,
        {rank.index: at},
    )


def _mismatches(world, stuck):
    """Collectives in which the ranks do not agree."""
    found = list(world.mismatches)
    known = [id(call) for _, slot in world.mismatches for call in slot.values()]
    for slot in world.slots.values():
        calls = list(slot.values())
        new = calls[0].request.time is None and id(calls[0]) not in known
        if new and (what := disagreement(calls)):
            found.append((what, slot))
    return [_mismatch(what, slot, stuck) for what, slot in found]


def _mismatch(what, slot, stuck):
    """The error of one collective: what differs, {rank: Call}."""
    ranks = {}
    for r in sorted(slot):
        at = {"op": str(slot[r]), **slot[r].request.place}
        ranks[r] = at | {"text": f"rank {r} calls {at['op']}, {in_words(at)}"}
    told = [at["text"] for at in ranks.values()]
    told += [at["text"] for r, at in stuck.items() if r not in ranks]
    message = f"mismatch: the ranks do not call the same collective: {what}{_listed(told)}"
    cause = (
        "every rank of a communicator calls the same collectives in the same "
        "order, with the same root, op, size and type"
    )
    return error("mismatch", message, cause, min(ranks), ranks, what=what)


def _deadlock(world, turns, stuck):
    """Every rank waits, or is done."""
    cycle = _cycle(stuck)
    done = sorted({p for at in stuck.values() for p in at["peers"]} - {*stuck})
    said = ""
    if cycle:
        waits = ", ".join(f"{a} waits for {b}" for a, b in pairwise(cycle))
        said = f"\n    {waits}: a ring"
    elif done:
        have = "has" if len(done) == 1 else "have"
        said = f"\n    {_ranks(done)} {have} finished and will not come"
    lone, other = _unmatched(world, stuck)
    what = "every rank waits" if len(stuck) == len(turns.ranks) else "no rank can continue"
    lines = _listed([at["text"] for at in stuck.values()])
    cause = _why(stuck, cycle, done, lone, other)
    message = f"deadlock: {what}{lines}{said}{_listed(lone + other)}"
    return error("deadlock", message, cause, min(stuck), stuck, cycle=cycle)


def _unmatched(world, stuck):
    """Messages that no receive of a rank matches, and those beside a begun receive for another tag: a line each."""
    lone, other = [], []
    for r, at in stuck.items():
        for key, s in _unread(world, r):
            sent = f"a message from rank {s.rank.index} to rank {r} with tag {s.envelope[1]} has arrived, but"
            wanted = [call for call in world.asked.get(key, ()) if _is_apart(call, s)]
            if "ecv" in at["op"]:
                lone.append(f"{sent} no receive matches it")
            elif wanted:
                other.append(f"{sent} its {wanted[0].op} asks for another tag")
    return lone, other


def _is_apart(receiving, sending):
    """From this sender, but with another tag."""
    sent, wanted = sending.envelope, receiving.envelope
    return fits(sent[:1], wanted[:1]) and not fits(sent, wanted)


def _why(stuck, cycle, done, lone, other):
    ops = {at["op"].split("(")[0] for r, at in stuck.items() if not cycle or r in cycle}
    if lone:
        return "the two sides use different tags or ranks"
    if other:
        return (
            "the receives that have begun ask for other tags than these messages have: a receive takes only a "
            "message with its tag"
        )
    if cycle and ops <= {"Send", "Ssend", "send", "ssend"}:
        return (
            "each waits for the other to receive first. MPI may buffer a short message and let the sender "
            "continue, but it need not: let one of them receive first, or use Sendrecv"
        )
    if cycle and ops <= {"Recv", "recv"}:
        return (
            "each waits for a message of the other, and neither sends: let one of them send first"
        )
    if done:
        return ("" if cycle else _crossed(stuck)) + _without(ops, cycle)
    if cycle and len({_is_message(op) for op in ops}) == 2:
        return (
            "some of these ranks are in a collective, others in a send or a receive: a collective is called by all "
            "ranks, and no send or receive answers it"
        )
    return ""


def _crossed(stuck):
    """A rank that waits for a message of one that sends to another."""
    alone = [(r, at["op"], at["peers"][0]) for r, at in stuck.items() if len(at["peers"]) == 1]
    for r, op, sender in alone:
        for other, sends, to in alone if op.startswith(("Recv(", "recv(")) else ():
            if other == sender and sends.startswith(("Send(", "send(")) and to != r:
                return f"rank {r} waits for a message from rank {sender}, which sends one to rank {to}: "
    return ""


def _without(ops, cycle):
    """A rank that is waited for has returned."""
    if cycle or any(map(_is_message, ops)):
        return "a send needs a receive, a receive a send, and a collective all ranks"
    return (
        "a rank has returned without the collective that the others wait in: all ranks must call it, even one "
        "that has nothing to give or to get"
    )


def _is_message(op):
    return "end" in op or "ecv" in op or "robe" in op


def _unread(world, r):
    """(its queue, the message) of all that rank r has not received."""
    return [(key, s) for key, queue in world.sent.items() for s in queue if r in s.peers()]


def _cycle(stuck):
    """The shortest way of waiting that comes back to where it began: [0, 1, 0]; [] where there is none."""
    best: list = []
    for start in stuck:
        ways, seen = [[start]], {start}
        while ways and not (best and len(ways[0]) >= len(best)):
            way = ways.pop(0)
            for peer in stuck[way[-1]]["peers"]:
                if peer == start and not (best and len(way) + 1 >= len(best)):
                    best, ways = [*way, start], []
                    break
                if peer in stuck and peer not in seen:
                    seen.add(peer)
                    ways.append([*way, peer])
    return best


def _ranks(numbers):
    return f"rank {numbers[0]}" if len(numbers) == 1 else f"ranks {', '.join(map(str, numbers))}"


def _leftovers(world):
    """Messages that nobody received and requests that nobody waited for."""
    errors = []
    for queue in world.sent.values():
        for s in queue:
            what = f"of {s.nbytes} bytes with tag {s.envelope[1]} from rank {s.rank.index}"
            said = f"rank {s.peers()[0]} never receives the message {what}"
            cause = "every Send needs its Recv: the next receive would get this message"
            errors.append(_leftover(said, cause, s))
    unread = {id(s) for queue in world.sent.values() for s in queue}
    for request in world.held:
        if not request.finished and id(request) not in unread:
            said = f"rank {request.rank.index} never waits for its {request.op}{_which(world, request)}"
            cause = "every request needs its Wait (or a Test that says True): before that its buffer is not yours"
            if request.hold and request.hold.was_changed():
                said += ", and has changed its buffer since"
                cause += ", and nothing may be written there"
            errors.append(_leftover(said, cause, request))
    return errors


def _which(world, request):
    """Of several of its kind on its rank, which one: ", number 2 of 5"; "" for the only one."""
    kind = request.rank, request.op.split("(")[0]
    alike = [id(other) for other in world.held if (other.rank, other.op.split("(")[0]) == kind]
    return f", number {alike.index(id(request)) + 1} of {len(alike)}" if len(alike) > 1 else ""


def _leftover(said, cause, request):
    r, at = request.rank.index, {"op": request.op, **request.place}
    return error("leftover", f"leftover: {said}\n    {in_words(at)}", cause, r, {r: at})
