"""Which kinds of slips lead to which finding of a check, the likely ones first."""

HINTS = {
    "memcheck": (
        "guard left out", "half a guard", "comparison", "end of loop", "guard too late", "guard of another",
        "leading dimension", "one index", "bounds", "shared size", "builtin", "index term", "transposed",
        "strides", "strides ignored", "start value", "one beside", "axes", "begin of loop", "step of loop",
        "another size", "by heart", "constant", "guard variable", "arguments",
        "places", "another guard", "number left out", "indirection", "statement left out", "another index",
        "whole division", "end at an address", "clamped",
    ),
    "racecheck": (
        "no barrier", "barrier moved", "atomic", "one index", "barrier in the last round", "step of loop",
        "builtin", "begin of loop", "guard left out", "index term", "early return",
        "barrier in a branch", "barrier passed by", "comparison", "half a guard", "axes",
        "constant", "leading dimension", "another size", "by heart", "transposed",
        "shared turned", "one beside", "another index", "places", "end of loop", "arguments", "guard variable",
        "statement left out", "strides", "strides ignored", "whole division",
    ),
    "initcheck": (
        "unfilled", "start value", "accumulation", "half a guard", "no barrier",
        "guard left out", "barrier moved", "early return", "comparison", "shared turned",
        "end of loop", "begin of loop", "shared size", "one beside", "index term", "no loop",
        "leading dimension", "constant", "another index", "another size", "by heart", "arguments",
        "transposed", "axes", "places", "another guard", "bounds", "builtin", "whole division", "guard variable",
        "step of loop",
    ),
    "synccheck": (
        "barrier in a branch", "barrier passed by", "early return", "barrier in the last round", "barrier moved",
        "no barrier", "comparison", "end of loop", "begin of loop", "step of loop",
    ),
    "values": (
        "sign", "factor", "term", "accumulation", "leading dimension", "one index", "end of loop", "transposed",
        "order of a difference", "index term", "function", "factor for both", "beyond the edge", "brackets", "scalar",
        "extra factor", "last tile",
        "builtin", "begin of loop", "start value", "strides", "strides ignored", "axes", "arguments",
        "another size", "by heart", "constant", "statement left out", "guard left out", "half a guard",
        "guard of another", "shared turned", "comparison", "indirection", "step of loop", "no loop", "bounds",
        "whole division", "shuffle", "atomic",
        "another guard", "places", "unfilled", "one beside", "guard variable", "exchanged statements", "another index",
        "whole blocks", "clamped", "end at an address",
    ),
    "never written": (
        "axes", "builtin", "half a guard", "comparison", "index term", "no loop", "step of loop", "guard of another",
        "bounds", "leading dimension", "one index", "early return", "begin of loop", "transposed",
        "constant", "another size", "by heart", "guard variable", "whole division",
        "another guard", "places", "statement left out", "end of loop", "last tile",
        "another index", "guard left out", "arguments", "whole blocks",
    ),
    "timeout": ("step of loop", "end of loop", "begin of loop", "constant", "comparison"),
    "limit": (
        "axes", "barrier too many", "shared size", "shared turned", "builtin", "atomic", "transposed", "no loop",
        "begin of loop", "step of loop", "guard left out", "half a guard", "accumulation",
        "places", "number left out", "constant", "no barrier", "barrier moved", "another index", "whole division",
    ),
}  # fmt: skip
