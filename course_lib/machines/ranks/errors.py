"""The one error of a parallel cell: which rank, what happened to it, and where the others were."""


class RankError(RuntimeError):
    """A rank raised, died, or did not finish in time; or the ranks could not be started.

    rank: the first one in trouble, or None. traceback: its traceback as text, or "". waiting: {rank: where it was}.
    In a notebook it shows as its message alone, without the frames of this library.
    """

    def __init__(self, message, rank=None, traceback="", waiting=None):
        super().__init__(message)
        self.rank, self.traceback, self.waiting = rank, traceback, waiting or {}

    def _render_traceback_(self):
        return f"RankError: {self}".splitlines()


class Interrupted(KeyboardInterrupt):
    """The reader interrupted a parallel cell; its text says where the ranks were, and is all that a notebook shows."""

    def _render_traceback_(self):
        return f"KeyboardInterrupt: {self}".splitlines()
