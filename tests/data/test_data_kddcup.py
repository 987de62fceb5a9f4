"""KDD Cup 1999: from small files in its format and, where they are, from the real ones."""

import csv
import gzip
import hashlib
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib.data import kddcup, load_kddcup99
from course_lib.data.kddcup_table import CATEGORICAL, FEATURES, NUMERIC, read_csv
from course_lib.errors import BadInput

PROTOCOLS, SERVICES, FLAGS = (
    ["icmp", "tcp", "udp"],
    ["domain_u", "ftp", "http", "smtp"],
    ["REJ", "SF"],
)
WHOLE = (*range(24), 31, 32)  # the columns of whole numbers; the others are rates
N = 350


def make_rows(n=N, seed=0, services=SERVICES):
    """n different records, as lists of 42 texts: src_bytes is 10 times the row's number, column 19 constant."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        row = [str(int(9 * v)) if j in WHOLE else f"{v:.2f}" for j, v in enumerate(rng.random(41))]
        row[1:4] = [str(rng.choice(words)) for words in (PROTOCOLS, services, FLAGS)]
        row[4], row[19] = str(10 * i), "0"
        rows.append(
            [*row, "normal." if rng.random() < 0.3 else str(rng.choice(["smurf.", "neptune."]))]
        )
    return rows


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(",".join(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def own(tmp_path, monkeypatch):
    """own(rows, name): put a file into a folder that COURSE_DATA names."""
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    return lambda rows, name="kddcup99/kddcup.data_10_percent.gz": write(tmp_path / name, rows)


def records_of(data, column=4):
    """Which row of make_rows each example is, per split: standardising keeps the order of src_bytes."""
    values = np.concatenate([data.split(s)[0][:, column] for s in ("train", "val", "test")])
    number = np.searchsorted(np.sort(values), values)
    sizes = np.cumsum([len(data.y_train), len(data.y_val)])
    return dict(zip(("train", "val", "test"), np.split(number, sizes), strict=True))


def test_codes_agree_with_scikit_learn(own):
    """Integer codes, then standardised by the training split: as scikit-learn does it from the same rows."""
    from sklearn.preprocessing import OrdinalEncoder, StandardScaler

    rows = make_rows()
    own(rows)
    data = load_kddcup99(categorical="codes", seed=3)
    table = np.array(rows, dtype=object)[:, :41]
    table[:, CATEGORICAL] = OrdinalEncoder().fit_transform(table[:, CATEGORICAL])
    table = table.astype(np.float64)
    records = records_of(data)
    scaler = StandardScaler().fit(table[records["train"]])
    for split, chosen in records.items():
        x, y = data.split(split)
        np.testing.assert_allclose(x, scaler.transform(table[chosen]), rtol=1e-5, atol=1e-5)
        assert y.tolist() == [int(rows[i][41] != "normal.") for i in chosen]
    assert data.n_features == 41 and data.class_names == ("normal", "attack")


def test_onehot_agrees_with_scikit_learn(own):
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rows = make_rows()
    own(rows)
    data = load_kddcup99(seed=3)
    table = np.array(rows, dtype=object)
    numbers = table[:, NUMERIC].astype(np.float64)
    indicators = OneHotEncoder(sparse_output=False).fit_transform(table[:, CATEGORICAL])
    records = records_of(data, column=1)  # src_bytes is the second number
    scaler = StandardScaler().fit(numbers[records["train"]])
    for split, chosen in records.items():
        x, _ = data.split(split)
        assert x.shape[1] == 38 + 3 + 4 + 2
        np.testing.assert_allclose(
            x[:, :38], scaler.transform(numbers[chosen]), rtol=1e-5, atol=1e-5
        )
        assert np.array_equal(x[:, 38:], indicators[chosen])


@pytest.mark.parametrize("categorical", ["codes", "onehot"])
def test_only_training_statistics(own, categorical):
    own(make_rows())
    data = load_kddcup99(categorical=categorical)
    numbers = data.x_train[:, : 41 if categorical == "codes" else 38].astype(np.float64)
    std = numbers.std(axis=0)
    assert np.abs(numbers.mean(axis=0)).max() < 1e-6
    assert sorted(set(np.round(std, 5))) == [0, 1]  # the constant column is 0, all others have 1
    assert (numbers[:, std == 0] == 0).all()
    assert (
        np.abs(data.x_test[:, :38].mean(axis=0)).max() > 0.01
    )  # the test split was not centred by itself


def test_split_is_5_1_1_complete_and_set_by_the_seed(own):
    own(make_rows())
    first, again, other = (load_kddcup99(seed=seed) for seed in (1, 1, 2))
    assert [len(first.split(s)[1]) for s in ("train", "val", "test")] == [250, 50, 50]
    records = records_of(first, 1)
    assert sorted(np.concatenate(list(records.values()))) == list(range(N))
    assert np.array_equal(first.x_train, again.x_train) and np.array_equal(
        first.y_test, again.y_test
    )
    assert not np.array_equal(records["test"], records_of(other, 1)["test"])


def test_places_and_both_sizes(own, tmp_path):
    """In the folder itself or in kddcup99 below it; percent10=False takes the other file."""
    own(make_rows(70), "kddcup.data_10_percent.gz")
    assert len(load_kddcup99().y_test) == 10
    own(make_rows(140), "kddcup99/kddcup.data_10_percent.gz")
    assert len(load_kddcup99().y_test) == 20
    own(make_rows(210), "kddcup.data.gz")
    assert len(load_kddcup99(percent10=False).y_test) == 30


def with_duplicates():
    """70 distinct rows of features; row 0 occurs 200 times, row 1 as normal and as attack."""
    rows = make_rows(70)
    rows[0][41] = "smurf."
    rows[1][41] = "normal."
    return rows + [rows[0]] * 199 + [[*rows[1][:41], "ipsweep."]]


def test_duplicates_are_counted(own):
    rows = with_duplicates()
    own(rows)
    data = load_kddcup99()
    assert len(rows) == 270 and len(data.y_train) + len(data.y_val) + len(data.y_test) == 270
    assert "200 records (74.1%) repeat the features of an earlier one, kept here" in data.note
    assert "both as normal and as attack: 1." in data.note
    attacks = sum(row[41] != "normal." for row in rows) / 270
    assert f"Skew: {attacks:.1%} of the records are attacks" in data.note


def test_leak_is_counted(own):
    own(with_duplicates())
    data = load_kddcup99()
    seen = {row.tobytes() for row in data.x_train}
    share = np.mean([row.tobytes() in seen for row in data.x_test])
    assert share > 0.5
    assert f"Leak: {share:.1%} of the test records" in data.note


def test_drop_duplicates(own):
    """Every distinct row of features once, with its first label, and none in two splits."""
    own(with_duplicates())
    data = load_kddcup99(drop_duplicates=True)
    rows = [row.tobytes() for split in ("train", "val", "test") for row in data.split(split)[0]]
    assert len(rows) == len(set(rows)) == 70
    assert "dropped here" in data.note and "Leak: 0.0%" in data.note
    records = records_of(data, 1)
    labels = {
        int(i): int(y)
        for s, chosen in records.items()
        for i, y in zip(chosen, data.split(s)[1], strict=True)
    }
    assert (labels[0], labels[1]) == (1, 0)


def test_statistics_count_every_record(own):
    """Without dropping, a row that occurs 200 times weighs 200 times."""
    own(with_duplicates())
    x = load_kddcup99(categorical="codes").x_train.astype(np.float64)
    assert np.abs(x.mean(axis=0)).max() < 1e-6


@pytest.mark.parametrize("categorical", ["codes", "onehot"])
def test_official_test_set_with_an_unknown_category(own, categorical):
    own(make_rows())
    tested = make_rows(30, seed=9, services=["ftp", "http", "tftp_u", "aol"])
    own(tested, "corrected.gz")
    data = load_kddcup99(categorical=categorical, official_test=True)
    assert [len(data.split(s)[1]) for s in ("train", "val", "test")] == [292, 58, 30]
    assert data.y_test.tolist() == [int(row[41] != "normal.") for row in tested]
    unknown = np.array([row[2] in ("tftp_u", "aol") for row in tested])
    assert (
        f"{unknown.sum()} test records have a category that the training file lacks (aol, tftp_u)"
        in data.note
    )
    if categorical == "onehot":
        ones = data.x_test[:, 38 + 3 : 38 + 3 + 4].sum(axis=1)
        assert np.array_equal(ones, 1.0 - unknown)
    else:
        assert data.x_test[unknown, 2].min() > data.x_train[:, 2].max()


def test_official_test_rows_that_occur_in_training_are_counted(own):
    rows = make_rows()
    own(rows)
    strangers = make_rows(30, seed=9)
    own(rows[:N] + strangers, "corrected.gz")
    data = load_kddcup99(official_test=True)
    assert f"Leak: {len(data.y_train) / (N + 30):.1%} of the test records" in data.note


def test_official_test_set_that_is_not_there(own):
    own(make_rows())
    with pytest.raises(BadInput, match=r"needs corrected\.gz .*COURSE_DATA"):
        load_kddcup99(official_test=True)


def test_no_unknown_category_is_not_mentioned(own):
    own(make_rows())
    assert "Unknown" not in load_kddcup99().note


def test_a_file_that_is_not_the_published_one_is_called_so(own):
    own(make_rows())
    assert "kddcup.data_10_percent.gz (NOT the published file" in load_kddcup99().note


def test_the_label_column_is_not_a_feature(own):
    """What [000]'s 42 counts is told, and two files that differ in labels alone give the same x."""
    rows = make_rows()
    own(rows)
    x = load_kddcup99().x_train
    own([[*row[:41], "normal." if row[41] != "normal." else "smurf."] for row in rows])
    assert np.array_equal(x, load_kddcup99().x_train)
    assert "42 is the number of columns, label included" in re.sub(
        r"\s+", " ", load_kddcup99.__doc__
    )
    assert len(FEATURES) == 41


def as_scikit_learn(rows):
    """What fetch_kddcup99 returns: objects, whole numbers as int, others as float, texts as bytes."""
    kinds = [int if j in WHOLE else float for j in range(41)]
    data = np.empty((len(rows), 41), dtype=object)
    for i, row in enumerate(rows):
        data[i] = [
            row[j].encode() if j in CATEGORICAL else kinds[j](float(row[j])) for j in range(41)
        ]
    target = np.array([row[41].encode() for row in rows], dtype=object)
    return type("Bunch", (), {"data": data, "target": target})


def test_through_scikit_learn_as_from_the_file(own, monkeypatch):
    import sklearn.datasets

    rows = with_duplicates()
    path = own(rows)
    from_file = load_kddcup99()
    path.unlink()
    asked = []

    def fetch_kddcup99(**options):
        asked.append(options)
        return as_scikit_learn(rows)

    monkeypatch.setattr(sklearn.datasets, "fetch_kddcup99", fetch_kddcup99)
    data = load_kddcup99()
    for name in ("x_train", "y_train", "x_val", "y_val", "x_test", "y_test"):
        assert np.array_equal(getattr(data, name), getattr(from_file, name))
    assert asked[0]["percent10"] is True and "scikit-learn" in data.note
    # and a test set from a file beside training data from scikit-learn: equal rows are still recognised
    own(rows, "corrected.gz")
    note = load_kddcup99(official_test=True).note
    leak = float(re.search(r"Leak: ([\d.]+)%", note).group(1))
    assert leak > 90


def test_scikit_learn_offline(monkeypatch):
    import sklearn.datasets

    def offline(**options):
        raise OSError("no route to host")

    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_kddcup99", offline)
    with pytest.raises(
        BadInput, match=r"no route to host.*put kddcup\.data_10_percent\.gz .*COURSE_DATA"
    ):
        load_kddcup99()


def changed(column, value):
    rows = make_rows(20)
    rows[7][column] = value
    return rows


BAD_ROWS = {
    "word for a number": (changed(5, "many"), "not of KDD Cup 1999.*many"),
    "empty number": (changed(0, ""), "not of KDD Cup 1999"),
    "NaN": (changed(24, "nan"), "line 8: serror_rate is nan"),
    "infinite": (changed(5, "inf"), "line 8: dst_bytes is inf"),
    "no label": (changed(41, ""), "line 8: the label is missing"),
    "a column too many": (changed(41, "normal.,1"), "line 8: 43 columns where 42 belong"),
    "a header of two words": ([["a", "b"], *make_rows(20)], "line 1: 2 columns where 42 belong"),
    "a blank line": ([*make_rows(20), [""]], "line 21: .*columns where 42 belong"),
    "features without label": (
        [row[:41] for row in make_rows(20)],
        "line 1: 41 columns where 42 belong",
    ),
    "empty": ([], "is empty"),
    "six records": (make_rows(6), "6 records are too few"),
}


@pytest.mark.parametrize("name", list(BAD_ROWS))
def test_bad_rows(own, name):
    rows, message = BAD_ROWS[name]
    own(rows)
    with pytest.raises(BadInput, match=message):
        load_kddcup99()


@pytest.mark.parametrize(
    "damage", [lambda c: c[: len(c) // 2], lambda c: c[:-8] + bytes(8), lambda c: c[:2] + b"??"]
)
def test_damaged_gzip(own, damage):
    path = own(make_rows())
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        BadInput, match=r"kddcup\.data_10_percent\.gz cannot be read .*get the file again"
    ):
        load_kddcup99()


def test_a_plain_file_and_a_missing_one(tmp_path):
    plain = read_csv(write(tmp_path / "plain.csv", make_rows(20)))
    packed = read_csv(write(tmp_path / "packed.gz", make_rows(20)))
    assert np.array_equal(plain.numbers, packed.numbers) and np.array_equal(
        plain.attack, packed.attack
    )
    with pytest.raises(BadInput, match="cannot be read"):
        read_csv(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categorical": "embedding"}, 'categorical must be "onehot" or "codes"'),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"seed": None}, "seed must be a whole number"),
    ],
)
def test_bad_options(own, options, message):
    own(make_rows())
    with pytest.raises(BadInput, match=message):
        load_kddcup99(**options)


# ---- the real files, where they are -------------------------------------------------------------------------------

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
REAL = next(
    (
        f
        for f in (Path(os.environ.get("COURSE_DATA") or BESIDE), BESIDE)
        if (f / "kddcup99").is_dir()
    ),
    BESIDE,
)
TEN_PERCENT = REAL / "kddcup99" / "kddcup.data_10_percent.gz"
CORRECTED = REAL / "kddcup99" / "corrected.gz"
needs_real = pytest.mark.skipif(
    not (TEN_PERCENT.is_file() and CORRECTED.is_file()),
    reason="the real KDD Cup 1999 files are not here: name their folder in COURSE_DATA",
)


@pytest.fixture
def real(monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(REAL))


@needs_real
def test_real_files_are_the_published_ones():
    for path in (TEN_PERCENT, CORRECTED):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == kddcup.SHA256[path.name]


@needs_real
def test_real_ten_percent(real):
    """494,021 connections, 97,278 normal: the counts that everyone reports; 145,584 distinct rows of features."""
    data = load_kddcup99()
    labels = np.concatenate([data.y_train, data.y_val, data.y_test])
    assert np.bincount(labels).tolist() == [97_278, 396_743]
    assert data.n_features == 38 + 3 + 66 + 11
    assert np.abs(data.x_train[:, :38].mean(axis=0, dtype=np.float64)).max() < 1e-5
    assert set(np.unique(data.x_train[:1000, 38:])) == {0, 1}
    assert "348,437 records (70.5%) repeat" in data.note and "the published file" in data.note
    assert "Skew: 80.3% of the records are attacks, 39.7% of the distinct rows" in data.note


@needs_real
def test_real_file_read_by_the_csv_module(real):
    """The first 2,000 records against Python's csv module and float(): values, categories, labels."""
    table = read_csv(TEN_PERCENT)
    with gzip.open(TEN_PERCENT) as stream:
        head = [stream.readline().decode() for _ in range(2000)]
    rows = list(csv.reader(io.StringIO("".join(head))))
    numbers, categories = table.numbers[table.row[:2000]], table.categories[table.row[:2000]]
    assert numbers.tolist() == [[float(row[j]) for j in NUMERIC] for row in rows]
    assert categories.tolist() == [row[1:4] for row in rows]
    assert table.attack[:2000].tolist() == [row[41] != "normal." for row in rows]
    assert (len(table.row), len(table.numbers)) == (494_021, 145_584)


@needs_real
def test_real_official_test_set(real):
    data = load_kddcup99(official_test=True, drop_duplicates=True, categorical="codes")
    assert np.bincount(data.y_test).tolist() == [60_593, 250_436]
    assert len(data.y_train) + len(data.y_val) == 145_584
    assert "2 test records have a category that the training file lacks (icmp)" in data.note


def test_the_sample_in_the_package(monkeypatch):
    """Every tenth line, with no file, folder or network; the counts that the README and chapter 14 name."""
    monkeypatch.delenv("COURSE_DATA", raising=False)
    data = load_kddcup99(sample=True)
    assert [len(data.split(s)[1]) for s in ("train", "val", "test")] == [35_289, 7_057, 7_057]
    assert data.n_features == 115 and 0.80 < data.y_train.mean() < 0.81
    assert "a SAMPLE, every 10th line of kddcup.data_10_percent.gz" in data.note
    assert "NOT the published" not in data.note
    assert len(load_kddcup99(sample=True, drop_duplicates=True).y_test) == 2_677
    assert len(load_kddcup99(sample=True, official_test=True).y_test) == 31_103
    assert "CC BY 4.0" in (kddcup.SAMPLE / "LICENSE.txt").read_text("utf-8")
    with pytest.raises(BadInput, match="sample is one of the 10 % file"):
        load_kddcup99(percent10=False, sample=True)


@needs_real
def test_the_sample_is_every_tenth_line():
    for path in (TEN_PERCENT, CORRECTED):
        whole = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        sample = (kddcup.SAMPLE / path.name.replace(".gz", ".every_10th.gz")).read_bytes()
        assert gzip.decompress(sample) == b"".join(whole[::10])
