"""Slips with MPI: another collective, root or operation, the wrong neighbour, a blocking pair, no sum at all."""

import ast

COLLECTIVES = (
    "Allreduce",
    "Reduce",
    "Bcast",
    "Scatterv",
    "Scatter",
    "Gather",
    "Gatherv",
    "Allgather",
)
SENDRECV = ("dest", "recvbuf", "source")


def collectives(place):
    """Another collective, or the rank's own part without any."""
    match place.node:
        case ast.Expr(ast.Call(ast.Attribute(comm, "Allreduce"), [send, receive])):
            comm, send, receive = map(ast.unparse, (comm, send, receive))
            own = f"{receive}[...] = {send}"
            yield (
                "no-sum",
                "these are each rank's own numbers: the sum over the ranks is missing",
                own,
                1,
            )
            says = f"`{comm}.Reduce` gives the sum to rank 0 alone: the others need it, too"
            yield "collective", says, f"{comm}.Reduce({send}, {receive})", 1
            mean = f"{comm}.Allreduce({send}, {receive})\n{receive} /= {comm}.size"
            yield "mean", "the sum is divided by the number of ranks, once too often", mean, 1
            for op, what in (("MAX", "the largest"), ("PROD", "the product")):
                text = f"from mpi4py import MPI\n{comm}.Allreduce({send}, {receive}, op=MPI.{op})"
                yield (
                    "operation",
                    f"{what} of all ranks' numbers, not their sum: `MPI.{op}`",
                    text,
                    1,
                )
        case ast.Expr(ast.Call(ast.Attribute(comm, "Reduce"), [send, receive, *_])):
            comm, send, receive = map(ast.unparse, (comm, send, receive))
            text = f"{comm}.Allreduce({send}, {receive})"
            yield (
                "collective",
                f"`{comm}.Allreduce` gives the sum to every rank: one is to have it",
                text,
                1,
            )


def small_letters(place):
    """allreduce, bcast and their like on Python objects: left out, or another."""
    match place.node:
        case ast.Call(
            ast.Attribute(comm, ("allreduce" | "bcast" | "reduce") as name), [mine, *rest]
        ):
            comm, mine = ast.unparse(comm), ast.unparse(mine)
            says = f"the rank's own {place.told(mine)} is taken: `{comm}.{name}` is missing"
            yield "no-sum", says, mine
            if name == "allreduce":
                says = f"`{comm}.reduce` gives the sum to rank 0 alone, and None to the others"
                yield "collective", says, f"{comm}.reduce({mine})"
                says = f"every rank is taken to be like this one: {place.told(f'({mine}) * {comm}.size')}"
                yield "no-sum", says, f"({mine}) * {comm}.size"
        case ast.Call(ast.Attribute(comm, "allgather"), [mine]):
            comm, mine = ast.unparse(comm), ast.unparse(mine)
            yield "collective", "gathered at rank 0 alone: `gather`", f"{comm}.gather({mine})"
            yield "no-sum", "the rank looks at its own part alone", f"[{mine}]"


def neighbours(place):
    """dest and source exchanged; a pair of blocking calls for Sendrecv; one the wrong way."""
    node = place.node
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return
    call = node.value
    given = {k.arg: ast.unparse(k.value) for k in call.keywords}
    if not set(SENDRECV) <= set(given):
        return
    send, comm = ast.unparse(call.args[0]), ast.unparse(call.func.value)
    dest, buffer, source = (given[name] for name in SENDRECV)
    text = f"{comm}.Sendrecv({send}, dest={source}, recvbuf={buffer}, source={dest})"
    yield "wrong-way", "the wrong way round: sent to the left, received from the right", text, 1
    for a, b in ((dest, dest), (source, source)):
        text = f"{comm}.Sendrecv({send}, dest={a}, recvbuf={buffer}, source={b})"
        yield "wrong-way", "sent to the rank that it receives from: to and fro", text, 1
    out, back = f"{comm}.Send({send}, dest={dest})", f"{comm}.Recv({buffer}, source={source})"
    yield (
        "blocking",
        "all ranks send first, and nobody receives: `Send`, then `Recv`",
        f"{out}\n{back}",
        1,
    )
    yield (
        "blocking",
        "all ranks receive first, and nobody sends: `Recv`, then `Send`",
        f"{back}\n{out}",
        1,
    )
    text = f"{comm}.Isend({send}, dest={dest})\n{back}"
    yield "blocking", "`Isend` without a `Wait`", text, 1


def messages(place):
    """Blocking for not blocking, pickled for a buffer, another partner or root."""
    match place.node:
        case ast.Call(
            ast.Attribute(comm, ("Isend" | "Irecv" | "Send" | "Recv") as name), args, keywords
        ):
            comm, rest = ast.unparse(comm), ast.unparse(ast.Call(ast.Name(""), args, keywords))
            if name.startswith("I"):
                says = f"waits at once: `{name}(...).Wait()`"
                yield "blocking", says, f"{comm}.{name}{rest}.Wait()"
                plain = name[1:].capitalize()
                says = f"`{plain}` blocks until the message is taken"
                yield "blocking", says, f"{comm}.{plain}{rest}"
                says = f"`{name.lower()}` pickles its object: a buffer travels with `{name}`"
                yield "pickled", says, f"{comm}.{name.lower()}{rest}"
            else:
                says = f"`{name.lower()}` pickles its object: a buffer travels with `{name}`"
                yield "pickled", says, f"{comm}.{name.lower()}{rest}"


def by_one_rank(place):
    """A collective that rank 0 alone calls."""
    match place.node:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(comm), name))) if name in COLLECTIVES:
            text = f"if comm.rank == 0:\n    {ast.unparse(place.node)}"
            yield "collective", f"rank 0 alone calls `{comm}.{name}`: every rank must", text, 1


RULES = (collectives, small_letters, neighbours, messages, by_one_rank)
