"""What stands in one process for an object of the other one."""

import contextlib
import inspect
from typing import Any

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def stand_in(peer, number, about, methods):
    """An object of the other side, as far as it can be used from here: called, and by those of its methods."""

    class Remote:
        def __getattr__(self, name):
            if name.startswith("_") or peer.guarded:
                raise AttributeError(name)
            return peer.call(self, f".{name}", (), {})

        def __call__(self, *args, **kwargs):
            return peer.call(self, "", args, kwargs)

        def watched(self, *args):
            """Called; afterwards `aftermath` says what the call has left behind."""
            return peer.call(self, "watched", args, {})

        def stumbling(self, *args):
            """The same; the threads that it starts wait a moment before each line: see `stumble`."""
            return peer.call(self, "stumbling", args, {})

        def aftermath(self):
            """(threads at work when the call ended, those that still are, errors that ended one): see `Aftermath`."""
            busy, left, lost = peer.call(self, "aftermath", (), {})
            return _count(busy), _count(left), [peer.error_of(one) for one in lost]

    Remote.__name__ = str(about.get("type") or "object")[:80]  # a check may say what it got
    for name in methods:
        if name in about.get("has", ()):
            setattr(
                Remote,
                name,
                lambda self, *args, _name=name: peer.call(
                    self, _name, _plain_args(_name, args), {}
                ),
            )
    if not about.get("calls"):
        del Remote.__call__
    made: Any = Remote()
    vars(made).update(_peer_number=number, __name__=str(about.get("name") or "object")[:80])
    takes = about.get("takes")
    if isinstance(takes, list) and all(
        isinstance(name, str) and name.isidentifier() for name in takes
    ):
        with contextlib.suppress(ValueError):  # a keyword, or a name twice
            made.__signature__ = inspect.Signature(
                [inspect.Parameter(n, POSITIONAL) for n in takes]
            )
    return made


def _count(value):
    return value if type(value) is int and 0 <= value < 1000 else 1000


def _plain_args(name, args):
    """A traceback cannot travel: a context manager of the other side hears that the block has ended, not how."""
    return (None, None, None) if name == "__exit__" else args
