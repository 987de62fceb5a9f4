"""The numbers of Singh [004], in the order of the text. It names no layer sizes, batch, machine or seconds."""

from functools import partial

from . import look_data as data
from . import look_gpu as gpu
from . import look_learning as learning
from . import look_ranks as ranks
from .claim import NOT_MEASURED, Claim, fixed

CLAIMS = (
    Claim(
        "004-hundreds", "[004]", "Introduction",
        'learning over the entire parameter space "hundreds of times"',
        data.hundreds,
    ),
    Claim(
        "004-fashion", "[004]", "Dataset",
        "60,000 and 10,000 examples, 28 x 28, 10 classes, in three parts",
        learning.clothes,
        "The sample in the package unless the official files are there; how [004] divided it is not told",
    ),
    Claim(
        "004-averaged", "[004]", "Data parallelism",
        'gradients "averaged, after each pass through a mini-batch"',
        data.averaged,
        "Right for equal shares alone (errata)",
    ),
    Claim(
        "004-two-ways", "[004]", "Model parallelism",
        'weights split "equally", outputs "stacked" after each layer',
        data.stacked,
        "Columns first, then rows needs no stacking (chapter 12)",
    ),
    Claim(
        "004-parameters", "[004]", "Experiments",
        "learning rate 0.01, 60 iterations, sigmoid",
        learning.learned,
        "[004] gives no accuracy. With so small a step 60 of them are few: in either reading the network is "
        "hardly trained",
    ),
    Claim(
        "004-cpu", "[004]", "Result, Future Work",
        "CPU, parallel against sequential: nearly 50 % speed-up",
        partial(learning.two_processes, key="data-mpi"),
        "Two processes by allreduce. On two machines 50 % can mean 2, 1.5 or 1 times (errata); here both "
        "processes have a core of one machine",
    ),
    Claim(
        "004-cpu-master", "[004]", "Result, MPI",
        "the same by broadcast, scatter and gather",
        partial(learning.two_processes, key="master"),
        "Our reading: in every step. The weights travel both ways, and rows too",
    ),
    Claim(
        "004-master-ranks", "[004]", "MPI",
        "the same for 784-1024-10, on 2 and 4 processes",
        partial(ranks.speedups, scheme="master"),
        "All messages go through one process",
    ),
    Claim(
        "004-gpu", "[004]", "Result, Future Work",
        "GPU, parallel against sequential: more than 50 % speed-up",
        fixed(NOT_MEASURED, "it needs two GPUs, or two processes on one, and this command starts no ranks on a GPU"),
        "Chapter 11 has a GPU for each rank",
    ),
    Claim(
        "004-gpu-slower", "[004]", "Observation",
        "the GPU is slower than the CPU",
        partial(gpu.faster, net="Net-1h"),
        "Its network is smaller. What makes a GPU slow is many calls with little work (chapters 05 and 09)",
    ),
    Claim(
        "004-two-machines", "[004]", "Observation",
        'two machines: "two times faster"',
        partial(learning.two_processes, key="data-mpi"),
        "Processes on one machine",
    ),
    Claim(
        "004-copies", "[004]", "Observation",
        "more data, a larger ratio of computing to copying",
        data.flops_a_byte,
        "It does not depend on the number of examples (errata)",
    ),
    Claim(
        "004-updates", "[004]", "Neural Networks",
        '"update millions of parameters numerous times"',
        data.updated,
        "The sizes are our reading; a network of millions is Net-2h of [000]",
    ),
)
