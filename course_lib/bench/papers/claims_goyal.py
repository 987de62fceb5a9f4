"""The numbers of Goyal et al. [001], the slides, in their order."""

from functools import partial

from course_lib.bench.papers import look_counts as counts
from course_lib.bench.papers import look_data as data
from course_lib.bench.papers import look_gpu as gpu
from course_lib.bench.papers import look_learning as learning
from course_lib.bench.papers import look_training as training
from course_lib.bench.papers.claim import Claim

RESULTS = 'slide "Results - Speedup"'
CLAIMS = (
    Claim(
        "001-mnist",
        "[001]",
        'slide "MNIST dataset"',
        "50,000 training, 10,000 test, 10,000 validation examples, 28 x 28",
        learning.mnist,
    ),
    Claim(
        "001-parameters",
        "[001]",
        'slide "Experiments", table',
        "784-1024-10 with 800,000 parameters, 784-1024-1024-10 with 1,860,000",
        data.parameters,
        "Rounded; the first by 1.7 % (errata)",
    ),
    Claim(
        "001-time",
        "[001]",
        'slide "Results - Time per Epoch"',
        "a figure, of which our copy has the title alone",
        partial(
            training.times,
            net="Net-1h",
            key="loops-threads",
            head="threads over examples, an epoch takes",
        ),
        "All ways in the tables under [000]",
    ),
    Claim(
        "001-gigaflops",
        "[001]",
        'slide "Results - Gigaflops"',
        "a figure, of which our copy has the title alone",
        partial(training.speeds, net="Net-1h", several="loops-threads", single="loops"),
        "All ways in the tables under [000]",
    ),
    Claim(
        "001-ten",
        "[001]",
        RESULTS,
        "threads: average speed-up about 10",
        training.efficiency,
        "10 on the 32 threads that [000] names is an efficiency of 31 %; the slides name no machine. What carries "
        "over is the efficiency, not the factor",
    ),
    Claim(
        "001-smaller",
        "[001]",
        RESULTS,
        '"Training time decreases as minibatch size decreases"',
        partial(
            training.times,
            net="Net-1h",
            key="loops-threads",
            head="threads over examples, an epoch takes",
        ),
        "[000], by the same authors, says the contrary; the figure decides, and we have its words alone",
    ),
    Claim(
        "001-blas",
        "[001]",
        RESULTS,
        'BLAS: parallel products give "even faster results"',
        partial(
            training.times,
            net="Net-1h",
            key="numpy-blas",
            head="NumPy with threads inside BLAS, an epoch takes",
        ),
    ),
    Claim(
        "001-blas-speedup",
        "[001]",
        RESULTS,
        'BLAS: "Speedup independent of batch size, but less than our implementation"',
        partial(
            training.faster,
            net="Net-1h",
            key="numpy-blas",
            over="numpy",
            head="threads in BLAS over one",
        ),
        "Our BLAS sees whole batches, theirs one example whatever the batch: so theirs could not depend on it",
    ),
    Claim(
        "001-ours-speedup",
        "[001]",
        RESULTS,
        "and the speed-up of threads over examples, to compare",
        partial(
            training.faster,
            net="Net-1h",
            key="loops-threads",
            over="loops",
            head="loops, threads over one",
        ),
    ),
    Claim(
        "001-twenty",
        "[001]",
        RESULTS,
        "CUDA: about 20 times",
        partial(gpu.faster, net="Net-1h"),
        "Over which serial program, and on which GPU, is not told",
    ),
    Claim(
        "001-multiple-of-32",
        "[001]",
        RESULTS,
        'CUDA: neurons "not perfect multiple of 32": some threads "do not participate"',
        counts.useful,
        "As [000] says; the output layer loses most, and has little of the work",
    ),
    Claim(
        "001-both",
        "[001]",
        RESULTS,
        'Theano "Apparently combines both types of parallelization"',
        partial(
            training.faster,
            net="Net-1h",
            key="torch",
            over="torch-1",
            head="PyTorch, all threads over one",
        ),
        "PyTorch in its place; it has threads inside its products and its elementwise operations",
    ),
    Claim(
        "001-theano-gpu",
        "[001]",
        RESULTS,
        '"Theano CUDA scales very fast with batch size"',
        partial(gpu.times, net="Net-1h", key="torch-gpu-resident"),
        "PyTorch in its place",
    ),
    Claim(
        "001-both-ways",
        "[001]",
        'slide "Future Work"',
        "combine the two parallelizations; no number",
        data.hybrid,
        "Chapter 03 and `course bench threads` measure it, from four threads on",
    ),
)
