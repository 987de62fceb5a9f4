"""The numbers of Darve [003], in the order of the text."""

from functools import partial

from course_lib.bench.papers import look_counts as counts
from course_lib.bench.papers import look_data as data
from course_lib.bench.papers import look_gpu as gpu
from course_lib.bench.papers import look_learning as learning
from course_lib.bench.papers import look_ranks as ranks
from course_lib.bench.papers.claim import COMPUTED, Claim, fixed

NO_CLOCK = "Counts by the CPU engine: no time, and no cache"
CLAIMS = (
    Claim(
        "003-grades",
        "[003]",
        "section 1",
        "20 % (15 + 5) and 80 % (32 + 3 + 20 + 20 + 5), bonus 15 points",
        fixed(COMPUTED, f"{15 + 5} + {32 + 3 + 20 + 20 + 5} = {15 + 5 + 32 + 3 + 20 + 20 + 5} %"),
        "The sums are right",
    ),
    Claim(
        "003-correctness",
        "[003]",
        "section 1",
        '"Does the GPU code give the same results as the CPU code? How large is the difference?"',
        counts.difference,
        "The CPU engine in the GPU's place. Another order of the same sums; chapter 09 derives the bound",
    ),
    Claim(
        "003-mnist",
        "[003]",
        "section 2",
        "60,000 training and 10,000 test data, 28 x 28; validation usually 10 %",
        learning.mnist,
        "We keep 10,000 of 60,000 for validation, as [000] and [001] do",
    ),
    Claim(
        "003-half",
        "[003]",
        "section 3.1",
        '"On one side of the hyperplane, f(Wx + b) > 0.5, and on the other f(Wx + b) < 0.5"',
        data.half,
    ),
    Claim(
        "003-figure-4",
        "[003]",
        "section 3.2, figure 4",
        "d = 4, H1 = 5, H2 = 3: W 5 x 4 and 3 x 5, b 5 x 1 and 3 x 1",
        data.figure_4,
    ),
    Claim(
        "003-entropy",
        "[003]",
        "section 3.4",
        'CE is 0 for "the optimal answer" and "maximal" (+infinity) "when y-hat_c is 0"',
        data.entropy,
        "Worked out from z it stays finite; y-hat_c is 0 only by rounding",
    ),
    Claim(
        "003-minibatch",
        "[003]",
        "section 3.5",
        'mini-batches: "This approach usually leads to faster convergence"',
        learning.by_batch,
        "For the same number of passes: more steps. For the same number of steps it is the other way round "
        "(chapter 02)",
    ),
    Claim(
        "003-gradients",
        "[003]",
        "section 3.6, eq. 3 to 7",
        "the boxed gradients",
        partial(learning.gradients, text="[003]"),
        "With eq. 1's penalty and mean added, which the boxes leave out (errata)",
    ),
    Claim(
        "003-nodes",
        "[003]",
        "section 4",
        '"e.g., 4 MPI nodes", data parallel',
        partial(ranks.speedups, scheme="data-mpi"),
        "Ranks on one machine here; p ranks on fewer cores take turns",
    ),
    Claim(
        "003-naive",
        "[003]",
        "section 4.1, algorithm 1",
        "a thread an element: reads a row of A and a column of B",
        partial(counts.product, rung="naive"),
        NO_CLOCK,
    ),
    Claim(
        "003-naive-gpu",
        "[003]",
        "section 4.1, algorithm 1",
        "the same, its rate",
        partial(gpu.products, rung="naive"),
    ),
    Claim(
        "003-shared",
        "[003]",
        "section 4.1, algorithm 2",
        'tiles of 32 x 32 in shared memory: "a better implementation"',
        partial(counts.product, rung="shared", over="naive"),
        NO_CLOCK,
    ),
    Claim(
        "003-shared-gpu",
        "[003]",
        "section 4.1, algorithm 2",
        "the same, its rate",
        partial(gpu.products, rung="shared", over="naive"),
    ),
    Claim(
        "003-16x4",
        "[003]",
        "section 4.2",
        '16 x 4 threads, 64 x 16 of D a block, 4 x 16 of B shared, a[4]: "even better"',
        partial(counts.product, rung="register_16x4", over="naive"),
        f"{NO_CLOCK}. Less intensity in global memory than algorithm 2, twice as many FMAs a shared wavefront",
    ),
    Claim(
        "003-16x4-gpu",
        "[003]",
        "section 4.2",
        "the same, its rate against algorithm 2's",
        partial(gpu.products, rung="register_16x4", over="shared"),
    ),
    Claim(
        "003-cutlass",
        "[003]",
        "section 4.2",
        'hierarchical tiling: "can give you excellent performance"',
        partial(counts.product, rung="warptile", over="register_16x4"),
        NO_CLOCK,
    ),
    Claim(
        "003-cutlass-gpu",
        "[003]",
        "section 4.2",
        "the same, its rate against 16 x 4 threads'",
        partial(gpu.products, rung="warptile", over="register_16x4"),
    ),
    Claim(
        "003-delta-w",
        "[003]",
        "section 4.3",
        'the size of dW leads to "a large MPI overhead"',
        ranks.overhead,
        "A message is a copy in memory here; over a network it is slower, and the share larger",
    ),
    Claim(
        "003-triples",
        "[003]",
        "section 4.3",
        "one multiplication and addition for each triple (i, k, j)",
        ranks.triples,
    ),
    Claim(
        "003-images",
        "[003]",
        "section 4.3",
        'share the images across all processors, "only once"',
        ranks.sharing_images,
    ),
    Claim(
        "003-model",
        "[003]",
        "section 4.3",
        "W1 by rows and W2 by columns communicate less",
        ranks.model_or_data,
    ),
    Claim(
        "003-fat",
        "[003]",
        "section 4.3",
        "W2 has only 10 rows",
        data.fat_matrix,
    ),
    Claim(
        "003-paper",
        "[003]",
        "section 4.3",
        "and determine which gives the best performance",
        ranks.predicted,
        "Predicted from this run's messages and gradients. The model knows no shared caches and no crowded cores",
    ),
    Claim(
        "003-cut",
        "[003]",
        "section 4.3",
        'estimate the communication "using pencil and paper"',
        ranks.cut_sizes,
    ),
)
