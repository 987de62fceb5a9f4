"""Datasets of the course: MNIST in the box, Fashion-MNIST, KDD Cup 1999, and the reader of IDX files.

Every loader returns a frozen `Dataset`: x float32, examples in rows; y int64 class labels.
What the data are, where they come from and under which licence: README.md beside this file.
"""

from course_lib.data.dataset import Dataset, one_hot
from course_lib.data.fashion import load_fashion_mnist
from course_lib.data.idx import read_idx
from course_lib.data.kddcup import load_kddcup99
from course_lib.data.mnist import load_mnist
from course_lib.data.scaling import column_statistics, standardise
