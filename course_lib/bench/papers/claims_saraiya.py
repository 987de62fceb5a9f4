"""The numbers of Saraiya [002], in the order of the text."""

from course_lib.bench.papers import look_schemes as schemes
from course_lib.bench.papers.claim import COMPUTED, Claim, fixed

CLAIMS = (
    Claim(
        "002-saving",
        "[002]",
        "abstract, section 1",
        "1 - 1/k of a dominant term is saved",
        schemes.saved,
        "The parent's layers are done by one thread; the others repeat the deltas beside it, and share the memory "
        "with it",
    ),
    Claim(
        "002-dominant",
        "[002]",
        "sections 1 and 2",
        "eq. 2, 5 and 7 are the dominant computations",
        schemes.shares,
        "The shares decide what 1 - 1/k of one of them is worth",
    ),
    Claim(
        "002-interleaved",
        "[002]",
        "section 3, figure 1",
        "k = 3: each thread computes eq. 6 and 7 at 1/k of the layers",
        schemes.coverage,
        "The parent does the last k layers alone",
    ),
    Claim(
        "002-theorem",
        "[002]",
        "theorem 1",
        '"Algorithm 1 is correct"',
        schemes.coverage,
        "Off by one layer (errata); repaired it gives serial's gradient to the last bit",
    ),
    Claim(
        "002-rest",
        "[002]",
        "eq. 8",
        'f = f1 + f2 + f3: "it is clear that these three values are dominant"',
        schemes.rest,
        "Timed apart, each layer by itself, and so not with the same data in the caches. The rest are sigmoids, biases "
        "and calls",
    ),
    Claim(
        "002-constant",
        "[002]",
        "section 4",
        'the ratio of f3 to f, "approximately constant for each hidden layer"',
        schemes.constant,
    ),
    Claim(
        "002-cost",
        "[002]",
        "eq. 9 and 10",
        "f' = f1 + f2 + f3/k",
        schemes.step_seconds,
        "See 002-saving",
    ),
    Claim(
        "002-limit",
        "[002]",
        "section 4",
        '1 - 1/k "rapidly approaches 1 as k increases"',
        schemes.limits,
        "The more threads, the more layers the parent does alone (errata)",
    ),
    Claim(
        "002-smallest-k",
        "[002]",
        "section 4",
        "the smallest k is ceil(1/eps)",
        fixed(COMPUTED, "eps = 1/10: 11, where the formula says 10"),
        "Where 1/eps is whole it is one more (errata)",
    ),
    Claim(
        "002-backward",
        "[002]",
        "section 4",
        "the speed-up as old time over new, which the text gives as a share saved; beyond it: the delta handed over",
        schemes.backward,
        "Deferred gradients (chapter 04) compute every delta once",
    ),
)
