"""[000]'s other data set, KDD Cup 1999, end to end, with the measures that a skewed set needs.

As in [000], section 5.2: one output, hidden layers of 1,024, sigmoid and squared error. 41 inputs, not 42: the 42nd
column of the files is the label. Categories as numbers, which is how 41 columns come from 41 features.
"""

from typing import Any

import numpy as np

from course_lib import serial
from course_lib.data import load_kddcup99
from course_lib.errors import BadInput
from course_lib.measure import BinaryCounts, binary_counts, majority_counts, precision_recall
from course_tools.bench.frame import Progress
from course_tools.bench.papers.settings import Settings

HIDDEN = {"Net-1h": (1024,), "Net-2h": (1024, 1024)}
ETA, B, EPOCHS = 0.1, 256, 1
MEASURES = ("accuracy", "recall", "precision", "specificity", "balanced_accuracy", "f1")


def kddcup(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Each net, trained on the 10 % file as it is and on its distinct rows; tested at home and on the official set."""
    found: dict[str, Any] = {"eta": ETA, "B": B, "epochs": EPOCHS, "cases": []}
    for distinct in (False, True):
        data, source = _data(distinct)
        found |= {"source": source, "features": data.n_features}
        head = {
            "distinct": distinct,
            "records": len(data.y_train) + len(data.y_val),
            "attacks": data.y_train.mean(),
            "note": data.note,
        }
        for net in settings.nets:
            progress.parts += 1
            progress.part(f"KDD Cup 1999, {net}, {'distinct rows' if distinct else 'all rows'}")
            found["cases"].append(head | _case(net, data, settings.connections))
    return found


def _data(distinct: bool) -> tuple[Any, str]:
    """(data, what they are): the 10 % file with the official test set, or else the sample in the package."""
    how = {"categorical": "codes", "drop_duplicates": distinct, "official_test": True}
    try:
        return load_kddcup99(**how), "the 10 % file"
    except BadInput:
        sample = load_kddcup99(**how, sample=True)
        return sample, "the sample in the package, every tenth line of the 10 % file"


def _case(name: str, data: Any, most: int) -> dict[str, Any]:
    """Trained once, on `most` rows at most; measured on rows of the same file, and on the official test."""
    kept = min(most, len(data.y_train))
    net = serial.Network((data.n_features, *HIDDEN[name], 1))
    params = net.init_params(0)
    history = serial.train(net, params, data, EPOCHS, B, ETA, progress=False, max_examples=kept)
    tests = {"same file": (data.x_val, data.y_val), "official test": (data.x_test, data.y_test)}
    return {
        "net": name,
        "examples": kept,
        "sizes": list(net.sizes),
        "seconds": sum(history.seconds),
        "stopped": history.stopped,
        "tests": {
            where: _measures(serial.outputs(net, params, X)[:, 0], y, data.y_train)
            for where, (X, y) in tests.items()
        },
    }


def _measures(scores: np.ndarray, y: np.ndarray, y_train: np.ndarray) -> dict[str, Any]:
    """All measures of the net's scores, and of the majority's answer, on one set."""
    curve = precision_recall(y, scores)
    return {
        "net": _told(binary_counts(y, (scores > 0.5).astype(np.int64))),
        "majority": _told(majority_counts(y_train, y)),
        "average_precision": curve.average_precision,
        "attacks": curve.chance,
        "records": len(y),
    }


def _told(counts: BinaryCounts) -> dict[str, Any]:
    """Counts and measures; None where a measure is undefined, since NaN is no JSON."""
    found = {name: getattr(counts, name) for name in ("tp", "fp", "fn", "tn", *MEASURES)}
    return {name: None if np.isnan(value) else value for name, value in found.items()}
