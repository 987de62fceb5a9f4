"""MNIST: 70,000 handwritten digits, all of them in the package."""

import numpy as np

from course_lib.data.dataset import Dataset
from course_lib.data.idx import read_idx
from course_lib.data.packed import FILES, unpack

N_VAL = 10_000
NOTE = (
    "All 70,000 digits of the original four files (LeCun, Cortes, Burges), 28 x 28 grey pixels / 255, in their "
    "original order. Training is the first 50,000 of the training file, validation its last 10,000, test the "
    "test file: 5:1 as in Kamra 2016, section 5.1, sizes as on the slides (Goyal 2016). Licence CC BY-SA 3.0."
)


def load_mnist() -> Dataset:
    """MNIST as a `Dataset`: x (50000 / 10000 / 10000, 784) float32 in [0, 1], y int64 digits.

    Darve 2019, section 2 keeps usually 10 % for validation; we follow Kamra 2016 (5:1) and Goyal 2016.
    Needs no network. Raises BadInput where a packed file is missing or damaged.
    """
    files = unpack(FILES / "mnist")
    return image_dataset(files, N_VAL, tuple("0123456789"), "MNIST", NOTE)


def image_dataset(files, n_val, class_names, name, note):
    """A `Dataset` from the four IDX files {name: bytes or path} in which MNIST and its kin are published."""
    x, y = _examples(files, "train")
    x_test, y_test = _examples(files, "t10k")
    n = len(x) - n_val
    return Dataset(x[:n], y[:n], x[n:], y[n:], x_test, y_test, class_names, name, note)


def _examples(files, which):
    images = read_idx(files[f"{which}-images-idx3-ubyte"], ndim=3)
    labels = read_idx(files[f"{which}-labels-idx1-ubyte"], ndim=1)
    pixels = images.reshape(len(images), -1)
    return np.divide(pixels, np.float32(255), dtype=np.float32), labels.astype(np.int64)
