"""What is wrong or loose in the five texts. Each row is proved by the test in tests/test_errata.py that `test` names.

`says` quotes, or gives the printed formula; `right` is what holds. Slips of the pen and loose words stand beside real
mistakes: none of them spoils a text, and each of them has cost some reader an evening.
"""

from typing import NamedTuple


class Erratum(NamedTuple):
    """name: also of the test. text: "[000]" to "[004]". where: section, equation, algorithm or slide."""

    name: str
    text: str
    where: str
    says: str
    right: str

    @property
    def test(self) -> str:
        """The function in tests/test_errata.py that computes both sides."""
        return f"test_{self.name}"


ERRATA = (
    # Kamra et al.: the paper
    Erratum(
        "millions_of_neurons",
        "[000]",
        "section 1",
        'hidden layers of "thousands to millions of neurons", and parameters "in the order of millions"',
        "of thousands, then: two layers of a million neurons have 10^12 weights between them",
    ),
    Erratum(
        "squared_vector",
        "[000]",
        'eq. 1 and 6; [001], slide "Gradient Descent"',
        "(y - f)^2 with y of P numbers",
        "the squared norm: the sum over the P outputs of the squares; the square of a vector is no loss",
    ),
    Erratum(
        "dummy_input",
        "[000]",
        "section 2.2",
        '"dummy neurons each of which takes a single scalar input n_in"',
        "an entry of x: n_in is how many there are",
    ),
    Erratum(
        "gradient_climbs",
        "[000]",
        "algorithms 1 to 3",
        "dL/dtheta = 1/N sum (y - f) df/dtheta, for the loss of eq. 1",
        "-2/N sum (y - f) df/dtheta: the sign is wrong, so the update climbs, and the 2 is missing",
    ),
    Erratum(
        "ragged_batches",
        "[000]",
        "algorithms 2 and 3",
        "batches j = 1 : N/B of size B each",
        "N/B is seldom whole (50,000 / 64 is not): the last batch is smaller, and its mean is over its own "
        "examples",
    ),
    Erratum(
        "thread_batches",
        "[000]",
        "algorithm 3",
        "thread-batches t = 1 : B/T of size B/T",
        "t = 1 : T: as printed they hold (B/T)^2 of the B examples, 4 of 64 with 32 threads",
    ),
    Erratum(
        "loss_without_index",
        "[000]",
        "eq. 6",
        "1/N sum over i of (y - a_L(x))^2",
        "y and x need the index i: as printed all N terms are equal",
    ),
    Erratum(
        "useless_delta",
        "[000]",
        "algorithm 5; [001], algorithm 4",
        "for l = L : 2 ... delta_(l-1) := (W_l delta_l) o sigma'(z_(l-1))",
        "the pass for l = 2 computes delta_1, which nobody uses, of a layer that has no sigma: stop before it",
    ),
    Erratum(
        "embedded_bias",
        "[000]",
        "section 4 and eq. 7",
        '"The bias values are embedded in the last column of the weight matrix", and W_i A_i + b_i',
        "W_i in eq. 7 must be the matrix without that column: with it, it fits A_i only where A_i has a row of "
        "ones, and then the bias counts twice",
    ),
    Erratum(
        "eq7_range",
        "[000]",
        "eq. 7",
        "A_(i+1) = f(W_i A_i + b_i) for i in [1, L - 1], the input being A_0",
        "with A_0 as the input i begins at 0: as printed the input is never read",
    ),
    Erratum(
        "output_delta",
        "[000]",
        "eq. 8",
        "D_L = Y - A_L, with the loss of eq. 6 and sigmoid outputs",
        "2 (Y - A_L) o sigma'(Z_L): algorithm 5's delta, with the sign that eq. 10 adds; as printed it belongs to "
        "the cross-entropy with sigmoid outputs",
    ),
    Erratum(
        "eq9_indices",
        "[000]",
        "eq. 9",
        "D_i = W_i^T D_i o d(W_(i-1) A_(i+1)); the text beside it: d of W_i A_i",
        "D_i = (W_i^T D_(i+1)) o f'(W_(i-1) A_(i-1) + b_(i-1)): with unequal widths nothing else fits",
    ),
    Erratum(
        "conflict_free",
        "[000]",
        "section 4",
        '"All read and write operations to global memory are coalesced and there are no bank conflicts" '
        "(forward product, layouts as stated)",
        "not both with tiles of 32 x 32 words: one tile is filled along k and used along i, so one of the two "
        "goes down a column, 32-way; a word of padding a row mends it",
    ),
    Erratum(
        "features_42",
        "[000]",
        "sections 5.1 and 5.2",
        'KDD Cup 1999: "42 features", 42 input neurons',
        "41 features and a label: the 42nd column is what is to be predicted",
    ),
    Erratum(
        "four_million",
        "[000]",
        "section 5.1",
        'KDD Cup 1999: "about 4 million data points"',
        "about 5 million, 4,898,431: the 10 % file has 494,021",
    ),
    Erratum(
        "features_integer",
        "[000]",
        "section 5.1",
        'features "of two types - categorical and integer"',
        "15 of the 41 are rates between 0 and 1",
    ),
    Erratum(
        "one_hyperparameter",
        "[000]",
        "section 5.3",
        '"we only have one hyperparameter - learning rate"',
        "batch size and number of epochs are two more: algorithm 2 asks for all three, and each changes the network "
        "that comes out",
    ),
    Erratum(
        "number_of_operations",
        "[000]",
        "section 6",
        '"parallelization provide much larger number of floating point operations than serial"',
        "the same number of operations, in less time: it is their rate that is larger",
    ),
    Erratum(
        "blas_and_threads",
        "[000]",
        "section 6, BLAS",
        'time "doesn\'t depend on the number of threads because it parallelizes each Matrix-vector product"',
        "the reason is one for the contrary: of T threads each has 1/T of a product's rows. [001], slide \"Results - "
        'Speedup", calls the speed-up independent of the batch size: that does follow',
    ),
    Erratum(
        "exponentially",
        "[000]",
        "section 6",
        'with the batch "the number of overheads (allocation/reduction) is exponentially decreased"',
        "as 1/B: N/B steps an epoch, each with one fork, join and reduction",
    ),
    Erratum(
        "conflicts_of_a_batch",
        "[000]",
        "section 6, Bottleneck",
        'bank conflicts, "which reduce the parallelism", "appear when the number of batch increases"',
        'they are there for every batch: their number is "proportional to the batch size" (section 4), as that of '
        "the flops is; for each example it is the same",
    ),
    # Goyal et al.: the slides
    Erratum(
        "vector_and_scalar",
        "[001]",
        'slide "Classifier: Neural Network"',
        'W (n_(l-1) x n_l) "= Weight vector", b in R^(n_l) "= Scalar bias"',
        "a matrix and a vector, as the formulas beside the words have it",
    ),
    Erratum(
        "slides_gradient",
        "[001]",
        'slide "Parallelizing Gradient Descent"',
        "1/N sum (y_i - f) df/dtheta",
        "as [000]'s: minus one half of the gradient",
    ),
    Erratum(
        "number_of_parameters",
        "[001]",
        'slide "Experiments"',
        "800,000 and 1,860,000 parameters",
        "814,090 and 1,863,690, biases included (813,056 and 1,861,632 without): the first was rounded hard",
    ),
    Erratum(
        "smaller_is_faster",
        "[001]",
        'slide "Results - Speedup"',
        '"Training time decreases as minibatch size decreases"',
        "[000], section 6, by the same authors, says the contrary; fork, join, reduction and update are paid "
        "once a step, and an epoch of smaller batches has more steps",
    ),
    # Saraiya: leapfrogging
    Erratum(
        "missing_bias",
        "[002]",
        "eq. 2",
        "z = w a (in our copy), while eq. 6 gives dC/db = delta",
        "z = w a + b: as printed C does not depend on b, and its derivative is 0",
    ),
    Erratum(
        "last_layer",
        "[002]",
        'theorem 1: "Algorithm 1 is correct"',
        "the parent applies eq. 4 at level L, then 5, 6 and 7 from L - 1 on",
        "eq. 6 and 7 are never applied at level L, so the output layer gets no gradient; section 3 has all quantities "
        '"computed for the last k layers" before the threads begin',
    ),
    Erratum(
        "three_schemes",
        "[002]",
        "section 3, algorithm 1, proof of theorem 1",
        "three times the levels of thread j",
        "three different sets: section 3 misses L-k-1 and L-k and names 0 and 1, which have no weights; the "
        "proof has L-k+1 to L-1 twice",
    ),
    Erratum(
        "smallest_k",
        "[002]",
        "section 4",
        "the smallest k with 1 - 1/k > 1 - eps is ceil(1/eps)",
        "1/eps + 1 where 1/eps is whole: k must be larger than 1/eps",
    ),
    Erratum(
        "eps_is_the_rest",
        "[002]",
        "section 4",
        '"let eps be the desired speedup 1 - 1/k"',
        "eps is what may be left of the cost: with eps = 0.9 the formula gives k = 2, which saves 50 %",
    ),
    Erratum(
        "relative_speedup",
        "[002]",
        "sections 1 and 4",
        '"The relative speedup in this computation is 1-1/k", where (f - f\')/f is meant (eq. 10)',
        "a loose word: that is the share of the time which is saved; the speed-up, old time over new, is k",
    ),
    Erratum(
        "cost_of_the_parent",
        "[002]",
        'eq. 9, "the cost of Algorithm 3" (the text has one, algorithm 1)',
        "f' = f1 + f2 + f3/k",
        "f1 + f2 + f3 (k + L/k - 1)/L, for k that divide L: the parent does its layers alone",
    ),
    Erratum(
        "saving_has_a_limit",
        "[002]",
        "section 4",
        '"The quantity 1 - 1/k rapidly approaches 1 as k increases"',
        "the saving is (1 - 1/k)(1 - k/L) of f3: largest near k = sqrt(L), none at k = L, where all layers are "
        "the parent's",
    ),
    # Darve: the project
    Erratum(
        "hyperplane",
        "[003]",
        "section 3.1",
        '"a d-dimensional hyperplane of the input space" of d inputs',
        "a hyperplane of R^d has d - 1 dimensions",
    ),
    Erratum(
        "row_times_w",
        "[003]",
        "sections 3.2 and 3.3",
        "x is 1 x d and W is H x d, and z = W x + b",
        "x must be a column, d x 1: a row does not fit; a row x goes with x W^T",
    ),
    Erratum(
        "rows_or_columns",
        "[003]",
        "sections 3.2, 3.6 and 4.3",
        'X is N x d, an image a row; then "a matrix of N column vectors"',
        "the formulas are for columns: with rows each product is transposed",
    ),
    Erratum(
        "softmax_sums",
        "[003]",
        "sections 3.3, 3.4 and 3.6",
        "sums from 1 to C, from 0 to C - 1, and from 0 to C",
        "C terms: the last has one too many",
    ),
    Erratum(
        "scalar_is_vector",
        "[003]",
        "section 3.4",
        'CE is 0 when "y-hat_c = y"',
        "when y-hat_c = 1: y is the one-hot vector",
    ),
    Erratum(
        "norm_or_square",
        "[003]",
        "eq. 1",
        '||p||^2 "is the sum of the l2-norm of all the weights"',
        "the sum of their squares, the squared norm: its gradient is lambda W, that of the norms is not",
    ),
    Erratum(
        "no_justification",
        "[003]",
        "section 3.4",
        '"There is no rigorous justification for this penalization"',
        "too strong: if the weights are normally distributed beforehand, with variance 1/(N lambda), N J is, up to a "
        "constant, minus the log of their posterior density",
    ),
    Erratum(
        "mean_or_sum",
        "[003]",
        "sections 3.4 and 3.5",
        "J = 1/N sum CE, and then J = sum CE",
        "one of them: the second has N times the gradient, so another learning rate",
    ),
    Erratum(
        "who_updates",
        "[003]",
        "section 3.6",
        '"Backpropagation is the process of updating the neural network coefficients"',
        "of computing their gradient, as the next sentence says; the update is gradient descent's, eq. 2",
    ),
    Erratum(
        "correct_label",
        "[003]",
        "section 3.6, case I",
        "k = c = y_i",
        "k = c, where y_k = 1: in section 3.4 y_i is an entry of the one-hot vector, 0 or 1, and no label",
    ),
    Erratum(
        "factors_in_order",
        "[003]",
        "section 3.6",
        "dz/da = W^T, and dCE/da = dCE/dz dz/da = W^T (y-hat - y)",
        "the factors in one of two orders: dz/da dCE/dz with dz/da = W^T and columns, or dCE/dz dz/da with dz/da = W "
        "and rows; as printed, a column before W^T, nothing fits",
    ),
    Erratum(
        "penalty_in_the_gradient",
        "[003]",
        'eq. 4 and 6, "our final gradients"',
        "dCE/dW = (y-hat - y) a^T, and so on",
        "right for CE; the cost J of eq. 1, which eq. 2 descends, needs + lambda W and the mean over N",
    ),
    Erratum(
        "thread_or_block",
        "[003]",
        "section 4.2",
        '"Each thread can have size 16 x 4"',
        "each block: 16 x 4 threads, 64 in all",
    ),
    Erratum(
        "gradient_below",
        "[003]",
        "section 4.3",
        'W^T d is the "gradient" for layer l - 1, with dW = sum d_i a_i^T',
        "W^T d o f'(z): simplified or not, for dW to hold d must be the derivative by z, as in section 3.6",
    ),
    # Singh: the report
    Erratum(
        "averaged_gradients",
        "[004]",
        "Data parallelism",
        '"the gradients need to be synchronized, i.e. averaged"',
        "right for equal shares alone: else weighed by the number of examples",
    ),
    Erratum(
        "evenly_distributed",
        "[004]",
        "MPI; Model parallelism",
        'scatter "makes the subsets evenly distributed"; "the weights of the net" are split "equally"',
        "only where the number of processes divides that of rows or neurons: a scatter of 10 on 4 leaves 2 over, which "
        "nobody gets",
    ),
    Erratum(
        "compute_over_copy",
        "[004]",
        "Observation",
        '"When the size of the data is bigger, the ratio of time to compute and time to execute memory copy is '
        'also getting larger"',
        "for more examples it is the same: each brings its own flops and its own bytes; it grows with the "
        "layers' width",
    ),
    Erratum(
        "fifty_per_cent",
        "[004]",
        "Future Work",
        '"nearly 50% speedup", "in line with what is expected"',
        "on two machines it can mean 2, 1.5 or 1 times as fast; only the first is what the same text expects "
        '("two times faster")',
    ),
    Erratum(
        "class_of_shirts",
        "[004]",
        "Dataset, table",
        'class 0: "T-shirt"',
        "T-shirt/top; 6 is Shirt",
    ),
)
