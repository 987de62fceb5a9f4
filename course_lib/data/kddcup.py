"""KDD Cup 1999: normal network connections against attacks."""

import hashlib

import numpy as np

from course_lib.data.dataset import Dataset
from course_lib.data.folders import own_file
from course_lib.data.kddcup_table import FEATURES, from_sklearn, read_csv
from course_lib.data.packed import FILES
from course_lib.data.scaling import column_statistics, standardise
from course_lib.errors import BadInput, check_count

FOLDER = "kddcup99"
PLACE = (
    f"into a folder {FOLDER} and name the folder around it in the environment variable COURSE_DATA"
)
TRAIN_FILE = {True: "kddcup.data_10_percent.gz", False: "kddcup.data.gz"}
TEST_FILE = "corrected.gz"
SHA256 = {
    "kddcup.data.gz": "3b6c942aa0356c0ca35b7b595a26c89d343652c9db428893e7494f837b274292",
    "kddcup.data_10_percent.gz": "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561",
    "corrected.gz": "74f0daef49b242badc09f2adbd457dea6a45b4f77177efbd11216d333651044b",
}
CLASS_NAMES = ("normal", "attack")
SAMPLE = FILES / "kddcup99-sample"


def load_kddcup99(
    percent10=True,
    categorical="onehot",
    drop_duplicates=False,
    official_test=False,
    seed=0,
    sample=False,
) -> Dataset:
    """KDD Cup 1999 as a `Dataset`: x (N, n0) float32, y int64, 0 normal and 1 attack (Kamra 2016, section 5.1).

    A record has 41 features, 38 numbers and three categories (protocol_type, service, flag), and a label.
    Kamra 2016 speaks of 42 features and of 42 input neurons: 42 is the number of columns, label included. What
    its 42nd input was, the paper does not say; it must not have been the label. "About 4 million" is the full
    file, 4,898,431 records (percent10=False: more than 3 GB as one-hot numbers).

    categorical: "onehot" gives each value of a category a column of its own, 0 or 1, after the 38 numbers
        (118 columns for the 10 % file). "codes" puts a number in its place, 41 columns in the file's order:
        close to Kamra 2016, but it claims an order among the values that does not exist.
    Numbers (and codes) are standardised by the mean and std of the training split alone.
    drop_duplicates: keep the first record of each distinct row of features. Without it, most validation and
        test rows also occur in training, and accuracy on them says little about new connections.
    official_test: x_test is the competition's test set (corrected.gz), whole, with attacks never trained on;
        else a part of the same file. seed: of the split, 5:1:1 (5:1 where the test set is the official one).
    sample: every tenth line of the 10 % file and of the official test set, from the package: no network. As skewed as
        the whole, with fewer duplicates.

    Else from a file in the folder that COURSE_DATA names, else through scikit-learn, which downloads it once.
    Raises BadInput where a file is missing or damaged, or a line in it is not of this form.
    """
    if categorical not in ("onehot", "codes"):
        raise BadInput(f'categorical must be "onehot" or "codes", not {categorical!r}')
    check_count("seed", seed, 0)
    if sample and not percent10:
        what = "the sample is one of the 10 % file"
        raise BadInput(f"{what}: leave out percent10=False, or sample=True")
    known, source = _read_training(percent10, sample)
    splits = _split(known.distinct() if drop_duplicates else known, seed, official_test)
    if official_test:
        splits["test"], test_source = _read_official_test(sample)  # last, as _encode wants it
        source += f"; test: {test_source}"
    arrays = _encode(splits, known.categories, categorical)
    note = _note(known, splits, source, drop_duplicates)
    return Dataset(**arrays, class_names=CLASS_NAMES, name="KDD Cup 1999", note=note)


def _read_training(percent10, sample):
    name = TRAIN_FILE[bool(percent10)]
    if sample:
        return _sampled(name)
    path = _own(name)
    if path is not None:
        return read_csv(path), _identity(path)
    from sklearn.datasets import fetch_kddcup99

    try:
        bunch = fetch_kddcup99(percent10=bool(percent10), n_retries=1)
    except OSError as error:
        why = f"KDD Cup 1999 could not be loaded through scikit-learn ({error})"
        raise BadInput(f"{why}. Without a network: put {name} {PLACE}") from None
    return from_sklearn(bunch.data, bunch.target), f"scikit-learn's copy of {name}"


def _sampled(name):
    text = f"a SAMPLE, every 10th line of {name}"
    return read_csv(SAMPLE / name.replace(".gz", ".every_10th.gz")), text


def _read_official_test(sample):
    if sample:
        return _sampled(TEST_FILE)
    path = _own(TEST_FILE)
    if path is None:
        where = "archive.ics.uci.edu, doi 10.24432/C51C7N"
        raise BadInput(f"the official test set needs {TEST_FILE} ({where}): put it {PLACE}")
    return read_csv(path), _identity(path)


def _own(name):
    return own_file(f"{FOLDER}/{name}", name)


def _identity(path):
    """The file's name, and whether it is the published one."""
    genuine = hashlib.sha256(path.read_bytes()).hexdigest() == SHA256[path.name]
    return f"{path.name} ({'the published file' if genuine else 'NOT the published file, its SHA-256 differs'})"


def _split(table, seed, official_test):
    """{"train", "val" and, unless it is the official one, "test"}: `Connections` over the same distinct rows."""
    held_out = ["val"] if official_test else ["val", "test"]
    size = len(table.row) // (5 + len(held_out))
    if size == 0:
        raise BadInput(f"{len(table.row)} records are too few for a split of 5:1:1")
    order = np.random.default_rng(seed).permutation(len(table.row))
    parts = np.split(order, [size * (i + 1) for i in range(len(held_out))])
    return {name: table.records(at) for name, at in zip([*held_out, "train"], parts, strict=True)}


def _encode(splits, known_categories, categorical):
    """x and y of each split. Distinct rows are encoded once and then repeated as the records say."""
    vocabularies = [np.unique(column) for column in known_categories.T]
    train = splits["train"]
    counts = np.bincount(train.row, minlength=len(train.numbers))
    columns = _columns(train, vocabularies, categorical)
    mean, std = column_statistics(columns, counts)
    if categorical == "onehot":  # the 0/1 columns stay 0 and 1
        mean[train.numbers.shape[1] :], std[train.numbers.shape[1] :] = 0, 1
    ready, arrays = standardise(columns, mean, std), {}
    for name, part in splits.items():
        if part.numbers is not train.numbers:  # the official test set, another file
            ready = standardise(_columns(part, vocabularies, categorical), mean, std)
        arrays[f"x_{name}"] = ready[part.row]
        arrays[f"y_{name}"] = part.attack.astype(np.int64)
    return arrays


def _columns(table, vocabularies, categorical):
    """(U, n0) float64: the distinct rows as numbers, not yet standardised."""
    codes = [_codes(*both) for both in zip(table.categories.T, vocabularies, strict=True)]
    if categorical == "codes":
        return np.column_stack([table.numbers[:, :1], *codes, table.numbers[:, 1:]])
    words = [np.arange(len(known)) for known in vocabularies]
    indicators = [code[:, None] == known for code, known in zip(codes, words, strict=True)]
    return np.column_stack([table.numbers, *indicators])


def _codes(values, words):
    """The position of each value among the sorted `words`; len(words) for a value that is not there.

    An unknown value thus gets a code of its own, and no 1 in any one-hot column.
    """
    code = np.searchsorted(words, values)
    return np.where(words[np.minimum(code, len(words) - 1)] == values, code, len(words))


def _note(known, splits, source, drop_duplicates):
    n, again = len(known.row), len(known.row) - len(known.numbers)
    kept = "dropped here" if drop_duplicates else "kept here"
    sentences = [
        f"Source: {source}; CC BY 4.0 (doi 10.24432/C51C7N).",
        f"{n:,} records of {len(FEATURES)} features and a label; 0 is normal, 1 is attack.",
        f"Duplicates: {again:,} records ({again / n:.1%}) repeat the features of an earlier one, {kept};",
        f"rows of features that occur both as normal and as attack: {_contradictory(known)}.",
        f"Skew: {known.attack.mean():.1%} of the records are attacks,",
        f"{known.distinct().attack.mean():.1%} of the distinct rows: always answering attack would be right",
        f"on {splits['test'].attack.mean():.1%} of this test set.",
        f"Leak: {_leaked(splits):.1%} of the test records have features that occur in training.",
        *_unknown(known, splits["test"]),
    ]
    return " ".join(sentences)


def _contradictory(table):
    return len(np.intersect1d(table.row[table.attack], table.row[~table.attack]))


def _leaked(splits):
    """The share of test records whose features occur in training too."""
    train, test = splits["train"], splits["test"]
    seen = np.bincount(train.row, minlength=len(train.numbers)) > 0
    if test.numbers is not train.numbers:
        prints = {key for key, used in zip(train.fingerprints(), seen, strict=True) if used}
        seen = np.array([key in prints for key in test.fingerprints()])
    return seen[test.row].mean()


def _unknown(known, test):
    """A sentence on categories in the test set that the training file lacks, if there are any."""
    new = [~np.isin(column, known.categories[:, j]) for j, column in enumerate(test.categories.T)]
    records = np.any(new, axis=0)[test.row].sum()
    if records:
        columns = zip(test.categories.T, new, strict=True)
        values = sorted({str(value) for column, at in columns for value in column[at]})
        lacking = f"a category that the training file lacks ({', '.join(values)})"
        coded = "one-hot gives them no 1, codes give them a code of their own"
        yield f"Unknown: {records:,} test records have {lacking}; {coded}."
