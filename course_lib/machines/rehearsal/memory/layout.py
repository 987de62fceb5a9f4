"""The order of an array's elements in memory. mpi4py sends an array in Fortran order, as W.T is, as it lies."""

from course_lib.machines.rehearsal.places import in_words

CAUSE = (
    "mpi4py sends an array in Fortran order, such as W.T, as it lies in memory: send a copy, "
    "np.ascontiguousarray(W.T)"
)
ORDERS = {"C": "C order (row by row)", "F": "Fortran order (column by column)"}
LIKE = ("Bcast", "Reduce", "Allreduce", "Scan", "Exscan")  # all buffers hold the same elements
CUT, JOINED = ("Scatter",), ("Gather", "Allgather")  # one is the others, one after the other


class Layout:
    """Of one array. order: "C", "F", or "" where both are the same; turned: is it the transpose of another one?"""

    def __init__(self, array):
        axes = sum(length > 1 for length in array.shape)
        self.shape = array.shape
        self.order = "" if axes < 2 else "C" if array.flags.c_contiguous else "F"
        base = array.base
        self.turned = self.order == "F" and getattr(base, "shape", None) == array.shape[::-1]

    def __str__(self):
        return f"an array of shape {self.shape}" + f" in {ORDERS.get(self.order)}" * bool(
            self.order
        )


def differ(one, other):
    """Are the same elements in another order in two arrays?"""
    known = one is not None and other is not None and one.order and other.order
    return bool(known and one.order != other.order and one.shape == other.shape)


def cut_differently(whole, part, ranks):
    """Is a part, as its rank sees it, no run of the whole's memory?"""
    if whole is None or part is None or ranks == 1 or "F" not in (whole.order, part.order):
        return False
    rows = part.shape[1:] == whole.shape[1:] or part.shape == whole.shape[1:]
    columns = part.shape[:-1] == whole.shape[:-1] or part.shape == whole.shape[:-1]
    if whole.order == "F":
        return rows and (whole.turned or not columns)
    return part.shape[1:] == whole.shape[1:] and len(part.shape) > 1


def of_message(world, message, receiving):
    """Say it where a message is received in another order than it was sent."""
    sent, taken = message.buffer.layout, receiving.buffer.layout
    if differ(sent, taken):
        text = (
            f"rank {message.rank.index} sends {sent}, but rank {receiving.rank.index}'s {receiving.op} takes "
            f"{taken}: the numbers arrive scrambled"
        )
        row = f"sent by rank {message.rank.index} in {in_words(message.place)}"
        world.find("layout", receiving.rank, receiving.place, text, CAUSE, [row])


def of_collective(world, rule, calls, root):
    """The same of a collective that all have entered."""
    for sender, sent, receiver, taken in _pairs(rule, calls, root):
        if taken is None or sent is None:
            continue
        if _wrong(rule, sent, taken, len(calls)):
            rank, other = receiver.request.rank, sender.request.rank
            text = (
                f"rank {other.index} gives {sent} to {sender.name}, but rank {rank.index} takes {taken}: the "
                "numbers arrive scrambled"
            )
            world.find("layout", rank, receiver.request.place, text, CAUSE)
            return


def _pairs(rule, calls, root):
    """(call, what it sends, call, what takes it), of Layouts."""
    senders = [calls[root]] if rule in ("Bcast", *CUT) else calls
    takers = [calls[root]] if rule in ("Reduce", "Gather") else calls
    if rule not in (*LIKE, *CUT, *JOINED):
        return []
    return [(a, a.layouts[0], b, b.layouts[1]) for a in senders for b in takers]


def _wrong(rule, sent, taken, ranks):
    if rule in LIKE:
        return differ(sent, taken)
    whole, part = (sent, taken) if rule in CUT else (taken, sent)
    return cut_differently(whole, part, ranks)
