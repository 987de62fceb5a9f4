"""The check of `hazards`: each barrier is taken out in turn, and the engine says what it had stopped."""

import functools

import numpy as np

from course_lib.checks.kit.freeform import function_check, require
from course_lib.checks.kit.kernels.running import traced

GIVEN = ("MIRROR",)  # the exercise shows it
BARRIERS = "ABCDE"
MIRROR = r"""
// y[t] = the sum over chunks c of 2 * x[64 c + max(62 - t, 0)].   x: 64 chunks floats, y: 64 floats; 1 block of 64
__global__ void mirror(int chunks, const float *x, float *y)
{
    __shared__ float s[64];
    const int t = threadIdx.x;
    float sum = 0;
    for (int c = 0; c < chunks; c++) {
        s[t] = x[64 * c + t];
        __syncthreads();  // A
        const float left = s[max(t - 1, 0)];
        __syncthreads();  // B
        s[t] = 2 * left;
        __syncthreads();  // C
        sum += s[63 - t];
        __syncthreads();  // D
    }
    __syncthreads();  // E
    y[t] = sum;
}
"""
KINDS = {"RAW": "read after write", "WAR": "write after read", "none": "no hazard"}
LATER = {
    "A": "the load of s[t - 1] below it",
    "B": "the store of 2 * left below it",
    "C": "the load of s[63 - t] below it",
    "D": "the store of the next chunk, in the next turn",
}
EARLIER = {
    "A": "the store of the chunk above it",
    "B": "the load of s[t - 1] above it",
    "C": "the store of 2 * left above it",
    "D": "the load of s[63 - t] above it",
}
EXCHANGED = ". RAW and WAR are exchanged throughout: in RAW, read after write, the read is below the barrier"


@functools.lru_cache(maxsize=8)
def without(barrier):
    """What the engine says of the kernel without that barrier, three chunks."""
    source = MIRROR.replace(f"__syncthreads();  // {barrier}", "")
    args = [np.int32(3), np.arange(192, dtype=np.float32), np.full(64, np.nan, np.float32)]
    return traced(source, "mirror", 1, 64, args)


def hazard_of(barrier):
    """ "RAW", "WAR" or "none": what the access below the barrier is, where the engine finds a race without it."""
    report = without(barrier)
    if report.ok:
        return "none"
    lines = MIRROR.splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith(f"// {barrier}"))
    below = (
        lines[at + 1]
        if barrier != "D"
        else next(line for line in lines if "= x[" in line and "//" not in line)
    )
    return "WAR" if below.strip().startswith("s[t] =") else "RAW"


@function_check("hazards")
def check_hazards(fn, *, rng):
    """The five answers, each held against the kernel without that barrier."""
    got = fn()
    require(
        isinstance(got, dict) and set(got) == set(BARRIERS),
        "hazards returns a dict with the keys A, B, C, D, E",
        got=repr(got),
        cause="give one answer per letter: a list, or other keys, do not tell which is which",
    )
    odd = [b for b in BARRIERS if not isinstance(got[b], str) or got[b] not in KINDS]
    require(
        not odd,
        f'{", ".join(odd)}: the answers are "RAW", "WAR" and "none"',
        got=str([got[b] for b in odd]),
        cause="use one of these three words, as a string in quotes",
    )
    wanted = {barrier: hazard_of(barrier) for barrier in BARRIERS}
    swapped = {"RAW": "WAR", "WAR": "RAW"}
    exchanged = all(got[b] == swapped.get(want, want) for b, want in wanted.items())
    for barrier, want in wanted.items():
        require(
            got[barrier] == want,
            f"barrier {barrier} does not stop {KINDS[got[barrier]]}"
            if got[barrier] != "none"
            else f"barrier {barrier} is needed",
            got=got[barrier],
            cause=_why(barrier, want) + EXCHANGED * exchanged,
        )
    return "five barriers, each as the engine finds without it"


def _why(barrier, want):
    if want == "none":
        return (
            f"without {barrier} the engine finds nothing: D comes before it, and after it no thread touches s. "
            "y[t] is each thread's own"
        )
    first = without(barrier).errors[0]
    lines = sorted((first["line"], first["other"]["line"]))
    return (
        f"which access above it, and which below, touch the same words? Here {EARLIER[barrier]} and "
        f"{LATER[barrier]}. "
        f"Without it racecheck reports lines {lines[0]} and {lines[1]}"
    )
