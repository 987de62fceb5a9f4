"""Pack a class-balanced sample of Fashion-MNIST into the package.

    python course_tools/maintenance/pack_fashion.py FOLDER

FOLDER holds 0.json to 9.json, one file a class, each {"data": [[784 pixels 0..255], ...]}: the folder
src/clothes of version 1.1.0 of the JavaScript package fashion-mnist. Same input, same output.

Those files hold genuine images of Fashion-MNIST, sorted by class, training and test images mixed, some
twice: what is packed is therefore a sample with a split of its own, not the official one.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

from course_tools.maintenance.pack_mnist import DATA, pack_folder

# Of "train", the last 1,000 examples become the validation set
PER_CLASS = {"train": 600, "t10k": 100}
N_VAL_PER_CLASS = 100
SEED = 0


def read_class(path):
    """(N, 784) uint8: the images of one class, broken rows left out."""
    rows = json.loads(Path(path).read_text(encoding="utf-8"))["data"]
    return np.array([row for row in rows if len(row) == 784], dtype=np.uint8)


def distinct(classes):
    """Each class without images that occur before in it, or anywhere in another class."""
    owners: dict[bytes, set[int]] = {}
    for label, images in enumerate(classes):
        for image in images:
            owners.setdefault(image.tobytes(), set()).add(label)
    keys = [dict.fromkeys(image.tobytes() for image in images) for images in classes]
    return [[key for key in order if len(owners[key]) == 1] for order in keys]


def balanced(classes, start, count, rng):
    """(images, labels) of rows start to start + count of every class, in random order."""
    images = [key for keys in classes for key in keys[start : start + count]]
    labels = np.repeat(np.arange(len(classes), dtype=np.uint8), count)
    order = rng.permutation(len(images))
    return [images[i] for i in order], labels[order]


def idx_files(which, images, labels):
    """The two IDX files of one part, under the names that the official files have."""
    header = struct.pack(">HBBIII", 0, 8, 3, len(images), 28, 28)
    return {
        f"{which}-images-idx3-ubyte": header + b"".join(images),
        f"{which}-labels-idx1-ubyte": struct.pack(">HBBI", 0, 8, 1, len(labels)) + labels.tobytes(),
    }


def main(folder):
    rng = np.random.default_rng(SEED)
    classes = distinct([read_class(Path(folder) / f"{label}.json") for label in range(10)])
    n_train = PER_CLASS["train"] - N_VAL_PER_CLASS
    x, y = balanced(classes, 0, n_train, rng)
    x_val, y_val = balanced(classes, n_train, N_VAL_PER_CLASS, rng)
    x_test, y_test = balanced(classes, PER_CLASS["train"], PER_CLASS["t10k"], rng)
    contents = idx_files("train", x + x_val, np.concatenate([y, y_val]))
    contents |= idx_files("t10k", x_test, y_test)
    pack_folder(contents, DATA / "fashion-mnist-sample")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
