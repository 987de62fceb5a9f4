"""What a rank has to tell of its book at the end of a cell, in words that the notebook can show."""

import traceback

from course_lib.machines.books import ledger, story

PROBES = 20  # a message is seen only after some progress


def account():
    """{"open": sentences on what has not ended, "books": {name: what was done there}}; the book begins anew.

    Of a communicator: members, log [(signature, operation)], sent {(rank, pickled?): n}, sends {(rank, tag):
    operation}, got {pickled?: n}, receives {pickled?: operation}, waiting [(rank, tag)] of messages not received.
    """
    _words.clear()
    with ledger.lock:
        ledger._settle()
        said: dict = {"open": list(_unended()), "books": {}}
        for book in [*ledger.books.values(), *ledger.closed]:
            waiting = _waiting(book)
            if book.log or book.sent or book.receives or waiting:
                said["books"][book.name] = _told(book) | {"waiting": waiting}
            book.clear()
        for left in (ledger.closed, ledger.others, ledger.broken, ledger.begun):
            left.clear()
        return said


def _told(book):
    log = [(signature, words(op)) for signature, op in book.log]
    sends = {to: words(op) for to, op in book.sends.items()}
    receives = {pickled: words(op) for pickled, op in book.receives.items()}
    return {
        "members": book.members,
        "log": log,
        "sent": book.sent,
        "sends": sends,
        "got": book.got,
        "receives": receives,
    }


def _unended():
    """Sentences, each without its subject, which is the rank."""
    for op in ledger.active.values():
        yield f"is still in {words(op)}"
    for thread, op in ledger.others.items():
        if thread.is_alive() and op not in ledger.active.values():
            yield f"has a thread that still runs after the cell; its last call was {words(op)}"
    for op, error in ledger.broken:
        yield f"was interrupted in {words(op)} by {error}"
    for request, op, _ in ledger.begun.values():
        ended = (
            "although its message arrived" if request.Get_status() else "and it has not completed"
        )
        yield f"never waited for {words(op)}, {ended}"


def _waiting(book):
    """(rank in COMM_WORLD, tag) of the first message that lies there and was not received, in a list; or []."""
    from mpi4py import MPI

    status = MPI.Status()
    for _ in range(PROBES):
        if book.comm and book.comm.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
            return [(book.peers[status.source], status.tag)]
    return []


def words(op):
    """ "Send (line 3: comm.Send(x, dest=1))" """
    if op not in _words:
        call, code, line = op
        entry = traceback.FrameSummary(code.co_filename, line, code.co_name)
        _words[op] = f"{call} ({story.place(entry)})"
    return _words[op]


_words: dict = {}
