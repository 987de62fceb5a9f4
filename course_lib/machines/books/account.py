"""What a rank has to tell of its book at the end of a cell, in words that the notebook can show."""

from course_lib.machines.books import ledger, short, story

LAST = 200  # collectives of a cell that has not ended which are told
PROBES = 20  # a message is seen only after some progress


def account():
    """{"open": sentences on what has not ended, "books": {name: what was done there}}; the book begins anew.

    Of a communicator: members, log [(signature, operation)], sent {(rank, pickled?): n}, sends {(rank, tag):
    operation}, got {pickled?: n}, receives {pickled?: operation}, waiting [(rank, tag)] of messages not received.
    """
    with ledger.lock:
        ledger._settle()
        said: dict = {"open": list(_unended()), "books": {}}
        for book in [*ledger.books.values(), *ledger.closed]:
            waiting = _waiting(book)
            if book.log or book.sent or book.receives or waiting:
                said["books"][book.name] = _told(book) | {"waiting": waiting}
            book.clear()
        said["short"] = [(story.words(op), b.name, *rest) for op, b, *rest in short.short]
        for left in (short.short, ledger.closed, ledger.others, ledger.broken, ledger.begun):
            left.clear()
        return said


def entered():
    """{book: (members, collectives before LAST, [(signature, operation)])} of a cell that has not ended.

    Called beside the cell, which may stand in MPI: nothing of MPI is called.
    """
    said = {}
    for book in list(ledger.books.values()):
        begun = [(its, op) for known, its, op in list(ledger.entering.values()) if known is book]
        log = [*book.log, *begun]
        if log:
            last = [(_plain(its), story.words(op)) for its, op in log[-LAST:]]
            said[book.name] = book.members, len(log) - len(last), last
    return said


def _told(book):
    log = [(_plain(signature), story.words(op)) for signature, op in book.log]
    sends = {to: story.words(op) for to, op in book.sends.items()}
    longest = {to: (size, story.words(op)) for to, (size, op) in book.longest.items()}
    receives = {pickled: story.words(op) for pickled, op in book.receives.items()}
    return {
        "members": book.members,
        "log": log,
        "sent": book.sent,
        "sends": sends,
        "longest": longest,
        "got": book.got,
        "receives": receives,
    }


def _plain(signature):
    """A signature that the notebook can read: its type by name, the same for one type under two names."""
    if len(signature) < 3 or signature[2] is None:
        return signature
    kind = {"i": "int", "u": "uint", "f": "float", "c": "complex", "b": "bool"}
    dtype = signature[2]
    name = f"{kind[dtype.kind]}{8 * dtype.itemsize}" if dtype.kind in kind else str(dtype)
    return *signature[:2], name, *signature[3:]


def _unended():
    """Sentences, each without its subject, which is the rank."""
    for op in ledger.active.values():
        yield f"is still in {story.words(op)}"
    for thread, op in ledger.others.items():
        if thread.is_alive() and op not in ledger.active.values():
            yield f"has a thread that still runs after the cell; its last call was {story.words(op)}"
    for op, error in ledger.broken:
        yield f"was interrupted in {story.words(op)} by {error}"
    for request, op, _ in ledger.begun.values():
        ended = (
            "although its message arrived" if request.Get_status() else "and it has not completed"
        )
        yield f"never waited for {story.words(op)}, {ended}"


def _waiting(book):
    """(rank in COMM_WORLD, tag) of the first message that lies there and was not received, in a list; or []."""
    from mpi4py import MPI

    status = MPI.Status()
    for _ in range(PROBES):
        if book.comm and book.comm.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
            return [(book.peers[status.source], status.tag)]
    return []
