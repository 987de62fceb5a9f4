"""Variables of a thread without a first value: what they start from, what the compiler says of them, what came of it.

They start from a NaN that no computation makes. If it arrives in an array, that is a finding; so is a line of which the
compiler is sure, if it ran. What the compiler only holds for possible names the variable.
"""

import json
import re
import sys

NAN = 0x7FFEAD01  # with g++; large as an integer, too. clang: 0xFFFFFFFF, integers 0xAAAAAAAA. trace.cpp knows them
# g++ fills with bytes of 0xFE; large arrays by memset, which can make them 0xFF
PATTERNS = [
    (r"-16843010\b|0xfefefefe\b", str(NAN)),
    (r"(?:\t\.byte\t-2\n){4}", f"\t.long\t{NAN}\n"),
    (r"-72340172838076674\b|0x(?:fe){8}\b", str(NAN << 32 | NAN)),
    (r"\$254(?=, %esi\n(?:.*\n){0,5}?\s*call\s+memset)", "$255"),
]
MARK = "_" * (sys.platform == "darwin") + "course_"  # before the engine's names in assembly
OWN = re.compile(r"fefefefe|01010101|16843009|16843010|4278124286", re.IGNORECASE)
WARNING = re.compile(
    r"^kernel\.cu:(\d+):\d+: warning: (?:variable )?['‘](\w+)['’] (is|may be) (?:used )?uninitialized( whenever)?",
    re.MULTILINE,
)


def poison(assembly, source):
    """The assembly of g++ with NaN in the place of its pattern, unless the source has such numbers of its own."""
    for pattern, number in PATTERNS * (not OWN.search(source)):
        assembly = re.sub(pattern, number, assembly)
    return assembly


def warned(said):
    """[line, name, is it sure?] of each variable that the compiler warns of."""
    # clang's "whenever a condition is false" is not sure: a shuffle may replace what was not set
    return [[int(m[1]), m[2], m[3] == "is" and not m[4]] for m in WARNING.finditer(said)]


def marks_of(line, warnings):
    """Instructions behind the start of a line, by which each warning of it notes that it has run."""
    ran = [i for i, (number, *_) in enumerate(warnings) if number == line]
    return [f"\tmovb $'1', {MARK}reached+{i}(%rip)" for i in ran]


def tables(warnings):
    """The warnings as JSON, and for each a 0 or 1: did its line run?"""
    said = {"warned": json.dumps(warnings).replace('"', '\\"'), "reached": "0" * len(warnings)}
    return [f'.data\n.globl {MARK}{name}\n{MARK}{name}: .asciz "{said[name]}"' for name in said]


def findings(rows, warnings, reached):
    """The rows of the engine's errors, those of unset variables at the line of the variable where that is known.

    The NaN may come from unset memory as well, of which initcheck has told already.
    """
    kept = [row for row in rows if row[1] != "variable"]
    stored = [row for row in rows if row[1] == "variable"] * all(r[0] != "initcheck" for r in kept)
    ran = [found for found, did in zip(warnings, reached, strict=True) if did == "1"]
    for line, name, _ in [found for found in ran if found[2]] or (ran if stored else []):
        side = [line, *(stored[0][6][1:] if stored else [0, 0, "load"])]
        kept.append(["initcheck", "variable", name, -1, 1, [], side, [0, 0, 0, ""]])
    return kept + [[*row[:1], "stored", *row[2:]] for row in stored if not ran]
