"""Reading the connections of KDD Cup 1999: from its CSV files, or as scikit-learn hands them over.

Seven of ten records in the 10 % file repeat an earlier one. Every distinct row of features is therefore
parsed once, and each record only says which row it has.
"""

import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.errors import BadInput

FEATURES = (
    "duration", "protocol_type", "service", "flag", "src_bytes", "dst_bytes", "land",
    "wrong_fragment", "urgent", "hot", "num_failed_logins", "logged_in", "num_compromised",
    "root_shell", "su_attempted", "num_root", "num_file_creations", "num_shells",
    "num_access_files", "num_outbound_cmds", "is_host_login", "is_guest_login", "count",
    "srv_count", "serror_rate", "srv_serror_rate", "rerror_rate", "srv_rerror_rate",
    "same_srv_rate", "diff_srv_rate", "srv_diff_host_rate", "dst_host_count", "dst_host_srv_count",
    "dst_host_same_srv_rate", "dst_host_diff_srv_rate", "dst_host_same_src_port_rate",
    "dst_host_srv_diff_host_rate", "dst_host_serror_rate", "dst_host_srv_serror_rate",
    "dst_host_rerror_rate", "dst_host_srv_rerror_rate",
)  # fmt: skip
CATEGORICAL = (1, 2, 3)  # protocol_type, service, flag
NUMERIC = tuple(i for i in range(len(FEATURES)) if i not in CATEGORICAL)


@dataclass(frozen=True, eq=False)
class Connections:
    """N records over U distinct rows of features, U <= N.

    numbers: (U, 38) float64, the NUMERIC columns. categories: (U, 3) str, the CATEGORICAL ones.
    row: (N,) int64, which of the U rows each record has. attack: (N,) bool, False for normal.
    """

    numbers: np.ndarray
    categories: np.ndarray
    row: np.ndarray
    attack: np.ndarray

    def distinct(self):
        """The first record of each distinct row of features."""
        _, first = np.unique(self.row, return_index=True)
        first.sort()
        return self.records(first)

    def records(self, at):
        """The records with these indices, over the same distinct rows."""
        return Connections(self.numbers, self.categories, self.row[at], self.attack[at])

    def fingerprints(self):
        """For each of the U rows, a value that equal rows share, in this table and in any other."""
        rows = zip(self.numbers, self.categories.tolist(), strict=True)
        return [(numbers.tobytes(), *categories) for numbers, categories in rows]


def read_csv(path):
    """The `Connections` in a file without header, 41 features and a label a line, plain or gzip.

    Raises BadInput for a file that is missing, damaged, empty, or holds a line of another form.
    """
    path, row, labels = Path(path), [], []
    rows: dict[bytes, int] = {}
    try:
        with _opened(path) as stream:
            for line in stream:
                features, _, label = line.rpartition(b",")
                row.append(rows.setdefault(features, len(rows)))
                labels.append(label.strip())
    except (OSError, EOFError, zlib.error) as error:
        advice = "check the path, or get the file again"
        raise BadInput(f"{path} cannot be read ({error}): {advice}") from None
    _check_lines(path, rows, row, labels)
    return _parse([text.decode("latin-1") for text in rows], row, labels, path)


def from_sklearn(features, labels):
    """The `Connections` of what scikit-learn's fetch_kddcup99 returns: (N, 41) and (N,) of dtype object."""
    rows: dict[tuple, int] = {}
    row = [rows.setdefault(tuple(record), len(rows)) for record in features.tolist()]
    numbers = np.array([[record[i] for i in NUMERIC] for record in rows], np.float64)
    categories = np.array([[_text(record[i]) for i in CATEGORICAL] for record in rows])
    attack = _is_attack([_text(label).encode() for label in labels])
    return Connections(numbers, categories, np.array(row), attack)


def _text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _opened(path):
    with path.open("rb") as stream:
        gzipped = stream.read(2) == b"\x1f\x8b"
    # the buffer reads lines in C; GzipFile alone reads them in Python, three times slower
    return io.BufferedReader(gzip.GzipFile(path)) if gzipped else path.open("rb")


def _check_lines(path, rows, row, labels):
    if not row:
        wanted = "a line of 41 features and a label for each connection"
        raise BadInput(f"{path} is empty: it should hold {wanted}")
    for text, i in rows.items():
        if text.count(b",") != len(FEATURES) - 1:
            columns = f"{text.count(b',') + 2} columns where 42 belong (41 features and the label)"
            raise BadInput(f"{path}, line {row.index(i) + 1}: {columns}")
    if b"" in labels:
        raise BadInput(f"{path}, line {labels.index(b'') + 1}: the label is missing (column 42)")


def _parse(texts, row, labels, path):
    try:
        form: dict[str, Any] = {"delimiter": ",", "comments": None, "usecols": NUMERIC, "ndmin": 2}
        numbers = np.loadtxt(texts, np.float64, **form)
    except ValueError as error:
        raise BadInput(f"{path} holds a row that is not of KDD Cup 1999 ({error})") from None
    if not np.isfinite(numbers).all():
        u, j = np.argwhere(~np.isfinite(numbers))[0]
        what = f"{FEATURES[NUMERIC[j]]} is {numbers[u, j]}"
        raise BadInput(f"{path}, line {row.index(u) + 1}: {what}, it must be finite")
    # protocol_type, service, flag
    categories = np.array([text.split(",", 4)[1:4] for text in texts])
    return Connections(numbers, categories, np.array(row), _is_attack(labels))


def _is_attack(labels):
    """(N,) bool. The published files write "normal." with a full stop; it may be missing."""
    attack = {label: label.rstrip(b".") != b"normal" for label in set(labels)}
    return np.array([attack[label] for label in labels])
