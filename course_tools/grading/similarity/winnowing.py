"""Fingerprints of a text by winnowing.

Schleimer, Wilkerson, Aiken: Winnowing: local algorithms for document fingerprinting (SIGMOD 2003). Of every WINDOW
successive hashes of GRAM tokens the smallest is kept, the rightmost of equal ones (section 3). So two texts that share
GRAM + WINDOW - 1 successive tokens share a fingerprint, and those that share none of GRAM have none in common.
"""

import hashlib

GRAM = 9  # tokens: "Z = X @ W + b" has seven, and is no sign of anything
WINDOW = 4


def fingerprints(tokens, gram=GRAM, window=WINDOW):
    """{fingerprint: [(first line, last line)]} of a list of `tokens.Token`."""
    hashes = [_hash(tokens[i : i + gram]) for i in range(len(tokens) - gram + 1)]
    made: dict[int, list] = {}
    for place in _chosen(hashes, window):
        lines = tokens[place].line, tokens[place + gram - 1].line
        made.setdefault(hashes[place], []).append(lines)
    return made


def every(tokens, gram=GRAM):
    """The hashes of all runs of GRAM tokens: of what is known nothing may be missed."""
    return {_hash(tokens[i : i + gram]) for i in range(len(tokens) - gram + 1)}


def _chosen(hashes, window):
    """The places of the smallest hash of each window, the rightmost of equal ones."""
    size = min(window, len(hashes))
    chosen = set()
    for start in range(len(hashes) - size + 1 if hashes else 0):
        here = range(start, start + size)
        chosen.add(min(here, key=lambda place: (hashes[place], -place)))
    return sorted(chosen)


def _hash(tokens):
    text = "\0".join(token.kind for token in tokens)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
