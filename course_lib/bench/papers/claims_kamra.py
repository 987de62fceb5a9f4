"""The numbers of Kamra et al. [000], in the order of the text. Its figures are quoted by what the words say of them."""

from functools import partial

from course_lib.bench.papers import look_counts as counts
from course_lib.bench.papers import look_data as data
from course_lib.bench.papers import look_gpu as gpu
from course_lib.bench.papers import look_learning as learning
from course_lib.bench.papers import look_training as training
from course_lib.bench.papers.claim import COMPUTED, Claim, fixed

FIG = {"Net-1h": "section 6, figure 7", "Net-2h": "section 6, figure 9"}
RATE = {"Net-1h": "section 6, figure 8", "Net-2h": "section 6, figure 10"}
HEAD = {"Net-1h": "Net-1h", "Net-2h": 'Net-2h, "Similarly"'}
MACHINES = "32 threads of another machine and another decade, loops of C++ that are not shown"


def _of(net: str) -> tuple[Claim, ...]:
    """What section 6 says of one network's two figures."""
    n, time, rate, head = net[-2:], FIG[net], RATE[net], HEAD[net]
    return (
        Claim(
            f"000-serial-{n}",
            "[000]",
            time,
            f'{head}: serial time "almost constant" over the mini-batch size',
            partial(training.times, net=net, key="loops"),
            "Compiled loops, an example at a time; only the update, once a step, makes small batches dearer",
        ),
        Claim(
            f"000-library-serial-{n}",
            "[000]",
            time,
            f'{head}: and so the other serial curve, "Light blue"',
            partial(training.times, net=net, key="torch-1"),
            "The words do not say whose it is: Theano's, as it seems. PyTorch on one thread in its place",
        ),
        Claim(
            f"000-threads-{n}",
            "[000]",
            time,
            f"{head}: time with Pthreads falls as the batch grows",
            partial(training.times, net=net, key="loops-threads"),
            "Fork, join, reduction and update are paid once a step; the more work an example is, the less they "
            f"weigh. Theirs: {MACHINES}",
        ),
        Claim(
            f"000-library-{n}",
            "[000]",
            time,
            f"{head}: the same of the library in parallel (T-Parallel)",
            partial(training.times, net=net, key="torch"),
            "PyTorch in Theano's place",
        ),
        Claim(
            f"000-gpu-{n}",
            "[000]",
            time,
            f"{head}: the GPU's time is much lower than the CPU's",
            partial(gpu.times, net=net, key="mlp-paper"),
            "Our kernels as section 4 words them",
        ),
        Claim(
            f"000-gflops-{n}",
            "[000]",
            rate,
            f"{head}: parallel GFLOP/s much larger than serial",
            partial(training.speeds, net=net, several="loops-threads", single="loops"),
            "GFLOP/s count the products alone; how [000] counted is not told",
        ),
        Claim(
            f"000-gflops-blas-{n}",
            "[000]",
            rate,
            f"{head}: GFLOP/s with BLAS",
            partial(training.speeds, net=net, several="numpy-blas", single="numpy"),
            "A batch at a time: products of matrices. [000] gives BLAS one example at a time, and so reads every "
            "weight for two flops",
        ),
        Claim(
            f"000-gflops-library-{n}",
            "[000]",
            rate,
            f"{head}: GFLOP/s of the library, serial and parallel",
            partial(training.speeds, net=net, several="torch", single="torch-1"),
            "PyTorch in Theano's place",
        ),
    )


CLAIMS = (
    Claim(
        "000-parameters",
        "[000]",
        "abstract and section 1",
        'parameters "in the order of millions"',
        data.parameters,
    ),
    Claim(
        "000-neurons",
        "[000]",
        "section 1",
        'hidden layers, "each one consisting of thousands to millions of neurons"',
        data.neurons,
        "Layers of a million neurons and parameters in the order of millions exclude each other (errata)",
    ),
    Claim(
        "000-examples",
        "[000]",
        "section 1",
        'training examples "usually in the order of millions"',
        learning.mnist,
        "The digits, on which all figures rest, are fewer; KDD Cup 1999 has millions",
    ),
    Claim(
        "000-hessian",
        "[000]",
        "section 2.1",
        'Newton\'s method: the Hessian is "very prohibitive for a large number of parameters"',
        data.hessian,
    ),
    Claim(
        "000-updates",
        "[000]",
        "section 3.2",
        'with a smaller batch "more updates can be made in a smaller amount of time"',
        learning.by_batch,
        "More updates in as many passes; each of them has its price (figure 7)",
    ),
    Claim(
        "000-shards",
        "[000]",
        "algorithm 3",
        "B/T thread-batches of B/T examples",
        fixed(COMPUTED, "as printed 4 of 64 examples with 32 threads"),
        "A slip: T thread-batches (errata)",
    ),
    Claim(
        "000-gradient",
        "[000]",
        "algorithm 5",
        "the backpropagation algorithm",
        partial(learning.gradients, text="[000]"),
        "With dL/da_L worked out from eq. 6; with the formula of algorithms 1 to 3 it fails (errata)",
    ),
    Claim(
        "000-kernels",
        "[000]",
        "section 4",
        '5 steps "each one implemented by distinct kernel"',
        data.kernels,
    ),
    Claim(
        "000-matrices",
        "[000]",
        "section 4",
        '"each one consisting of 3 distinct matrices", W, A and D',
        data.matrices,
        "They stay on the GPU between the steps",
    ),
    Claim(
        "000-coalesced",
        "[000]",
        "section 4",
        'forward: all accesses coalesced, "no bank conflicts"',
        counts.conflicts,
        "True of matrices stored by rows. With the layouts that section 4 states, and tiles of 32 x 32 without "
        "padding, one of the tiles is filled or used down a column (errata)",
    ),
    Claim(
        "000-few-conflicts",
        "[000]",
        "section 4",
        'transposed product: "few bank conflicts"',
        counts.delta,
        "Few where the column is written once a tile, 32-way each time; many where the inner loop goes down it",
    ),
    Claim(
        "000-coalesced-rest",
        "[000]",
        "section 4",
        'transposed product and update: global memory "coalesced"',
        counts.coalesced,
        "Four sectors of 32 bytes for the 32 neighbouring words of a warp: so it is",
    ),
    Claim(
        "000-conflicts-batch",
        "[000]",
        "sections 4 and 6",
        'update: conflicts "proportional to the batch size"',
        counts.update,
        "The total grows as the batch does; each example's share stays (errata)",
    ),
    Claim(
        "000-turned",
        "[000]",
        "section 4",
        'update, tiles loaded transposed: "only a single bank conflict during loading"',
        counts.turned,
        "With the storage that section 4 states there is none; with examples side by side it would be 32-way, "
        "once for each row that is filled (chapter 09)",
    ),
    Claim(
        "000-derivative",
        "[000]",
        "section 4",
        'A (1 - A) in place of W A again: "significant reduction"',
        data.recompute,
        "Keeping Z would save as much, for any activation (chapter 09)",
    ),
    Claim(
        "000-machine",
        "[000]",
        "section 5",
        "32 cores, 128 GB RAM, 2.6 GHz",
        data.machine,
    ),
    Claim(
        "000-mnist",
        "[000]",
        "section 5.1",
        "60,000 and 10,000 images of 28 x 28, training divided 5:1",
        learning.mnist,
    ),
    Claim(
        "000-kdd",
        "[000]",
        "section 5.1",
        "about 4 million data points, 42 features",
        learning.records,
        "The whole file has 4,898,431 records (UCI), about 5 million; the 42nd column is the label (errata)",
    ),
    Claim(
        "000-nets",
        "[000]",
        "section 5.2",
        "Net-1h 784-1024-10, Net-2h 784-1024-1024-10; 42 inputs, 1 output for KDD",
        data.parameters,
    ),
    Claim(
        "000-kdd-1h",
        "[000]",
        "sections 5.1 and 5.2",
        "Net-1h for KDD Cup 1999; no result is given",
        partial(learning.detector, net="Net-1h", distinct=False),
        "[000] shows no accuracy. The set is skewed, most rows repeat, and rows for validation are often in "
        "training too: beside the accuracy stand the measures that such a set needs, and the official test set",
    ),
    Claim(
        "000-kdd-2h",
        "[000]",
        "sections 5.1 and 5.2",
        "Net-2h for KDD Cup 1999; no result is given",
        partial(learning.detector, net="Net-2h", distinct=False),
        "As above",
    ),
    Claim(
        "000-kdd-distinct",
        "[000]",
        "sections 5.1 and 5.2",
        "the same, of which nothing is said: each row once",
        partial(learning.detector, net="Net-1h", distinct=True),
        "Without the repeated rows most training rows are normal, and on the official test set most are attacks, "
        "some of kinds never trained on: recall falls. Precision and its area stay high where four of five rows "
        "are attacks, and the majority's answer is right for one in five",
    ),
    Claim(
        "000-grid",
        "[000]",
        "section 5.3",
        "the learning rate by a grid search on the validation data; no value is given",
        learning.grid,
        "Too large a rate drives all ten outputs to 0, where the sigmoid is flat, and leaves them there",
    ),
    Claim(
        "000-measure",
        "[000]",
        "section 5.4",
        'GFLOPS: "This measure is independent of serial implementation"',
        data.recompute,
        "It needs no baseline, but a count: flops that are done twice keep the GFLOP/s, and lengthen the step (chapter "
        "13)",
    ),
    Claim(
        "000-threads",
        "[000]",
        "section 6",
        '"the number of threads is fixed as 32"',
        training.threads,
    ),
    *_of("Net-1h"),
    Claim(
        "000-blas-10",
        "[000]",
        "section 6",
        "serial BLAS about 10 times as fast as their serial loops",
        partial(
            training.faster,
            net="Net-1h",
            key="numpy",
            over="loops",
            head="NumPy over compiled loops, one thread",
        ),
        "Whose loops? Ours are vectorised by Numba's compiler; the same loops in plain Python are a thousand "
        "times slower. And our BLAS gets a batch, theirs one example",
    ),
    Claim(
        "000-blas-library",
        "[000]",
        "section 6",
        'BLAS "even faster than Theano": the parallel one, since of the serial one the contrary is said',
        partial(
            training.faster,
            net="Net-1h",
            key="numpy-blas",
            over="torch",
            head="NumPy over PyTorch, all threads",
        ),
        "PyTorch in Theano's place",
    ),
    Claim(
        "000-blas-serial",
        "[000]",
        "section 6",
        'serial BLAS "still a bit slower than Theano"',
        partial(
            training.faster,
            net="Net-1h",
            key="numpy",
            over="torch-1",
            head="NumPy over PyTorch, one thread",
        ),
        "PyTorch in Theano's place; both call a BLAS of today in single precision",
    ),
    Claim(
        "000-blas-threads",
        "[000]",
        "section 6",
        'time of BLAS "doesn\'t depend on the number of threads"',
        partial(
            training.faster,
            net="Net-1h",
            key="numpy-blas",
            over="numpy",
            head="all threads over one",
        ),
        "The reason that the text gives is one for the contrary (errata). For one example at a time, a product of a "
        "matrix and a vector, memory sets the pace",
    ),
    Claim(
        "000-exponential",
        "[000]",
        "section 6",
        'overheads "exponentially decreased" by larger batches',
        fixed(
            COMPUTED,
            "forks and reductions an epoch: 782 at B = 64, 196 at 256, 49 at 1,024: as 1/B",
        ),
        "Errata",
    ),
    Claim(
        "000-multiple-of-32",
        "[000]",
        "section 6",
        "widths that are no multiple of 32 leave threads idle",
        counts.useful,
        "Below a third for the output layer, which has little of the work; the wide layer loses 2 %",
    ),
    *_of("Net-2h"),
    Claim(
        "000-speedups",
        "[000]",
        "section 7",
        '"a x times speedup using multiple cores only"',
        training.efficiency,
        "No number stands in the text: a cross",
    ),
    Claim(
        "000-speedup-gpu",
        "[000]",
        "section 7",
        '"and then a x times speedup using a GPU"',
        partial(gpu.faster, net="Net-1h"),
        "A cross again",
    ),
    Claim(
        "000-accuracy",
        "[000]",
        "section 7",
        '"without any significant loss of accuracy"',
        learning.kept,
        "The shards' sums are the batch's sum in another order: rounding is all that differs. What does cost "
        "accuracy is a larger batch with as many epochs, and larger batches are where the speed-ups are (see "
        "003-minibatch)",
    ),
)
