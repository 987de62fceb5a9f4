"""Messages between two processes: their length in four bytes, then a JSON object. Nothing that arrives so can run."""

import json
import struct

HEAD = struct.Struct("<I")


class ConnectionLost(ConnectionError):
    """The other process has ended, or sent what is no message."""


def frame(message):
    """A message as bytes."""
    text = json.dumps(message).encode()
    return HEAD.pack(len(text)) + text


def taken_from(buffer, longest):
    """The first message of a bytearray, taken out of it; None where it has not come whole. Raises ValueError."""
    if len(buffer) < HEAD.size:
        return None
    (size,) = HEAD.unpack_from(buffer)
    _check_size(size, longest)
    end = HEAD.size + size
    if len(buffer) < end:
        return None
    text = bytes(buffer[HEAD.size : end])
    del buffer[:end]
    return _message(text)


def messages(stream, longest):
    """The messages of a binary stream until its end. Raises ValueError, OSError."""
    while len(head := stream.read(HEAD.size)) == HEAD.size:
        (size,) = HEAD.unpack(head)
        _check_size(size, longest)
        yield _message(stream.read(size))


def _check_size(size, longest):
    if size > longest:
        raise ValueError("a message that is too long")


def _message(text):
    message = json.loads(text)
    if not isinstance(message, dict):
        raise ValueError("a message that is no JSON object")
    return message
