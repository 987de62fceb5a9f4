"""What stands in one process for an object of the other one."""

import contextlib
import inspect
from typing import Any

POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def proxy_of(peer, number, about, methods):
    """An object of the other side, as far as it can be used from here: called, and by those of its methods."""
    kind = _class_of(peer)
    kind.__name__ = str(about.get("type") or "object")[:80]  # a check may say what it got
    for name in methods:
        if name in about.get("has", ()):
            setattr(kind, name, _method(peer, name))
    if not about.get("calls"):
        del kind.__call__
    made: Any = kind()
    vars(made).update(_peer_number=number, __name__=str(about.get("name") or "object")[:80])
    takes = about.get("takes")
    if isinstance(takes, list) and all(isinstance(n, str) and n.isidentifier() for n in takes):
        with contextlib.suppress(ValueError):  # a keyword, or a name twice
            parameters = [inspect.Parameter(name, POSITIONAL) for name in takes]
            made.__signature__ = inspect.Signature(parameters)
    return made


def _class_of(peer):
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
            """The same; the threads that it starts wait a moment before each line: see `race_injection`."""
            return peer.call(self, "stumbling", args, {})

        def aftermath(self):
            """(threads at work when the call ended, those that still are, errors that ended one)."""
            busy, left, lost = peer.call(self, "aftermath", (), {})
            return _count(busy), _count(left), [peer.errors.remade(one) for one in lost]

    return Remote


def _method(peer, name):
    return lambda self, *args: peer.call(self, name, _plain_args(name, args), {})


def _count(value):
    return value if type(value) is int and 0 <= value < 1000 else 1000


def _plain_args(name, args):
    """A traceback cannot travel: a context manager of the other side hears that the block has ended, not how."""
    return (None, None, None) if name == "__exit__" else args
