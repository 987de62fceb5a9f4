"""The numbers of Singh [004], in the order of the text. It names no layer sizes, batch, machine or seconds."""

from functools import partial

from course_lib.bench.papers import look_data as data
from course_lib.bench.papers import look_gpu as gpu
from course_lib.bench.papers import look_learning as learning
from course_lib.bench.papers import look_ranks as ranks
from course_lib.bench.papers.claim import NOT_MEASURED, Claim, fixed

CLAIMS = (
    Claim(
        "004-hundreds",
        "[004]",
        "Introduction",
        'learning parameters over the entire parameter space "hundreds of times"',
        data.hundreds,
    ),
    Claim(
        "004-products",
        "[004]",
        "Introduction, Neural Networks",
        'the process "is nothing but large matrix multiplication operations"',
        data.products,
        "Nearly, for a batch; for one example the update of the weights is a third of all",
    ),
    Claim(
        "004-updates",
        "[004]",
        "Neural Networks",
        '"update millions of parameters numerous times"',
        data.updated,
        "The sizes are our reading of figure 1, two hidden layers; a network of millions is Net-2h of [000]",
    ),
    Claim(
        "004-fashion",
        "[004]",
        "Dataset",
        "60,000 and 10,000 examples, 28 x 28, 10 classes, in three parts",
        learning.clothes,
        "The sample in the package unless the official files are there; how [004] divided it is not told",
    ),
    Claim(
        "004-classes",
        "[004]",
        "Dataset, table",
        "the ten classes and their names",
        learning.classes,
        "Errata",
    ),
    Claim(
        "004-averaged",
        "[004]",
        "Data parallelism",
        'gradients "averaged, after each pass through a mini-batch"',
        data.averaged,
        "Right for equal shares alone (errata)",
    ),
    Claim(
        "004-two-ways",
        "[004]",
        "Model parallelism",
        'weights split "equally", outputs "stacked" after each layer',
        data.stacked,
        "Columns first, then rows needs no stacking (chapter 12)",
    ),
    Claim(
        "004-master-ranks",
        "[004]",
        "MPI",
        'broadcast, scatter and gather "among different processes in the same machine or in a cluster"',
        partial(ranks.speedups, scheme="master"),
        "784-1024-10. All messages go through one process",
    ),
    Claim(
        "004-gather",
        "[004]",
        "MPI",
        '"To collect training results of worknodes (Gather)"',
        data.gathered,
        "A gather collects, and adds nothing: the root must. A reduction adds on the way (chapter 10)",
    ),
    Claim(
        "004-parameters",
        "[004]",
        "Experiments",
        "learning rate 0.01, 60 iterations, sigmoid",
        learning.learned,
        "[004] gives no accuracy. With so small a step 60 of them are few: in either reading the network is "
        "hardly trained",
    ),
    Claim(
        "004-cpu",
        "[004]",
        "Result, figure 4; Future Work",
        "CPU, parallel against sequential: nearly 50 % speed-up",
        partial(learning.two_processes, key="data-mpi"),
        "Two processes by allreduce, each with a core of one machine. Sharing alone gives no more than 2: above it, "
        "fewer rows at once are quicker by the row as well. On two machines 50 % can mean 2, 1.5 or 1 times (errata)",
    ),
    Claim(
        "004-cpu-master",
        "[004]",
        "MPI; Result, figure 4",
        "the same by broadcast, scatter and gather",
        partial(learning.two_processes, key="master"),
        "Our reading: in every step. The weights travel both ways, and rows too",
    ),
    Claim(
        "004-gpu",
        "[004]",
        "Result, figure 4; Future Work",
        "GPU, parallel against sequential: more than 50 % speed-up",
        fixed(
            NOT_MEASURED,
            "it needs two GPUs, or two processes on one, and this command starts no ranks on a GPU",
        ),
        "Chapter 11 has a GPU for each rank. As time saved, more than 50 % would be more than two machines can give",
    ),
    Claim(
        "004-two-machines",
        "[004]",
        "Observation",
        'two machines: "two times faster"',
        partial(learning.two_processes, key="data-mpi"),
        "Processes on one machine; above 2 as said there",
    ),
    Claim(
        "004-gpu-slower",
        "[004]",
        "Observation",
        "the GPU is slower than the CPU",
        partial(gpu.faster, net="Net-1h"),
        "Its network is smaller. What makes a GPU slow is many calls with little work (chapters 05 and 09)",
    ),
    Claim(
        "004-copying",
        "[004]",
        "Observation",
        'the improvement by the GPU "is overwhelmed by the time consumed while copying inputs and outputs"',
        data.copying,
        "So it is on paper, if the network is small. But at B = 64 the calls from Python, some microseconds each, take "
        "longer than both (chapters 05 and 13)",
    ),
    Claim(
        "004-copies",
        "[004]",
        "Observation",
        "more data, a larger ratio of computing to copying",
        data.flops_a_byte,
        "It does not depend on the number of examples (errata)",
    ),
    Claim(
        "004-larger",
        "[004]",
        "Future Work",
        'more speed-up "if we use large dataset and or have a more complex/ deep model"',
        partial(ranks.speedups, scheme="data-mpi"),
        "A more complex model, 784-1024-10, beside the rows above. More images are more steps, each as fast as before",
    ),
)
