"""Fashion-MNIST: the sample in the package, and the official files from a folder, the cache, a mirror."""

import functools
import gzip
import hashlib
import http.server
import struct
import threading
from pathlib import Path

import numpy as np
import pytest

from course_lib.data import fashion, folders, load_fashion_mnist
from course_lib.errors import BadInput


@pytest.fixture(scope="module")
def sample():
    return load_fashion_mnist()


def test_sample_is_balanced(sample):
    for split, n in (("train", 500), ("val", 100), ("test", 100)):
        x, y = sample.split(split)
        assert x.shape == (10 * n, 784) and x.dtype == np.float32 and (x.min(), x.max()) == (0, 1)
        assert np.bincount(y).tolist() == [n] * 10
    assert sample.class_names[0] == "T-shirt/top" and sample.class_names[9] == "Ankle boot"


def test_sample_has_no_image_twice(sample):
    images = {row.tobytes() for split in ("train", "val", "test") for row in sample.split(split)[0]}
    assert len(images) == 7_000


def test_sample_is_mixed(sample):
    """The first hundred examples of each split hold all classes, so that a subset is usable."""
    for split in ("train", "val", "test"):
        assert len(set(sample.split(split)[1][:100].tolist())) == 10


def test_sample_is_fashion_mnist(sample):
    """Mean 0.2860 and standard deviation 0.3530 are published for the 60,000: a sample must come near them."""
    pixels = np.concatenate([sample.x_train, sample.x_val, sample.x_test])
    assert abs(pixels.mean(dtype=np.float64) - 0.2860) < 0.004
    assert abs(pixels.std(dtype=np.float64) - 0.3530) < 0.004
    trousers, bags = (pixels[: len(sample.y_train)][sample.y_train == c].mean() for c in (1, 8))
    assert trousers < 0.26 < 0.32 < bags  # trousers are narrow, bags are wide


def test_sample_says_what_it_is(sample):
    for text in (sample.note, repr(sample).replace("\n", " ")):
        assert "SAMPLE" in text and "NOT the official split" in text and "MIT licence" in text
    assert "sample" in sample.name
    licence = (
        Path(fashion.__file__).parent / "files" / "fashion-mnist-sample" / "LICENSE.txt"
    ).read_text("utf-8")
    assert "Zalando SE" in licence and "WITHOUT WARRANTY OF ANY KIND" in licence


def tiny_official():
    """The four official files in miniature: {name: gzip bytes}."""
    rng = np.random.default_rng(2)
    files = {}
    for which, n in (("train", 40), ("t10k", 20)):
        images = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        labels = rng.integers(0, 10, n, dtype=np.uint8)
        image_file = struct.pack(">HBBIII", 0, 8, 3, *images.shape) + images.tobytes()
        label_file = struct.pack(">HBBI", 0, 8, 1, n) + labels.tobytes()
        files[f"{which}-images-idx3-ubyte.gz"] = gzip.compress(image_file, mtime=0)
        files[f"{which}-labels-idx1-ubyte.gz"] = gzip.compress(label_file, mtime=0)
    return files


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def official(tmp_path, monkeypatch):
    """Tiny official files: no COURSE_DATA, an empty cache, and no mirror that answers."""
    files = tiny_official()
    rows = tuple(
        (name, len(content), hashlib.md5(content).hexdigest()) for name, content in files.items()
    )
    monkeypatch.setattr(fashion, "OFFICIAL", rows)
    monkeypatch.setattr(fashion, "MIRRORS", ("http://mirror.invalid/",))
    monkeypatch.setitem(fashion.N_VAL, "official", 10)
    monkeypatch.setattr(fashion, "cache_folder", lambda name: tmp_path / "cache" / name)
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    return files


def put(folder, files):
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def is_right(data, files):
    images = gzip.decompress(files["train-images-idx3-ubyte.gz"])[16:]
    expected = np.frombuffer(images, np.uint8).reshape(40, 784) / 255
    assert [len(data.split(s)[1]) for s in ("train", "val", "test")] == [30, 10, 20]
    np.testing.assert_allclose(np.concatenate([data.x_train, data.x_val]), expected, rtol=1e-6)
    assert data.name == "Fashion-MNIST" and "official" in data.note
    return True


def test_from_a_mirror_and_then_from_the_cache(official, tmp_path, monkeypatch):
    handler = functools.partial(Quiet, directory=put(tmp_path / "served", official))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        here = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setattr(fashion, "MIRRORS", ("http://mirror.invalid/", here))
        assert is_right(load_fashion_mnist(sample=False), official)
        server.shutdown()
        thread.join()
    assert is_right(load_fashion_mnist(sample=False), official)  # no server any more


def test_from_a_folder_of_ones_own(official, tmp_path, monkeypatch):
    put(tmp_path / "mine" / "fashion-mnist", official)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "mine"))
    assert is_right(load_fashion_mnist(sample=False), official)
    assert not (tmp_path / "cache").exists()


def test_a_damaged_file_of_ones_own_is_named_and_left_alone(official, tmp_path, monkeypatch):
    folder = put(tmp_path / "mine" / "fashion-mnist", official)
    bad = folder / "t10k-labels-idx1-ubyte.gz"
    bad.write_bytes(bad.read_bytes()[:-1] + b"?")
    before = bad.read_bytes()
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "mine"))
    with pytest.raises(BadInput, match=r"t10k-labels-idx1-ubyte\.gz is not the official file"):
        load_fashion_mnist(sample=False)
    assert bad.read_bytes() == before


def test_offline_says_which_files_to_put_where(official, tmp_path):
    with pytest.raises(BadInput) as caught:
        load_fashion_mnist(sample=False)
    message = str(caught.value)
    for expected in (
        *official,
        str(tmp_path / "cache" / "fashion-mnist"),
        "COURSE_DATA",
        "load_fashion_mnist()",
    ):
        assert expected in message


def test_course_data_that_is_no_folder(official, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match=r"COURSE_DATA names .*nowhere, which is not a folder"):
        load_fashion_mnist(sample=False)


def test_the_official_files_and_their_mirrors():
    """31 MB in four files, from three independent places."""
    assert sum(size for _, size, _ in fashion.OFFICIAL) == 30_878_645
    assert all(len(md5) == 32 and name.endswith(".gz") for name, _, md5 in fashion.OFFICIAL)
    assert len({mirror.split("/")[2] for mirror in fashion.MIRRORS}) == 3
    assert all(mirror.endswith("/") for mirror in fashion.MIRRORS)


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/c"}, "/c/course-lib/x"),
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache/course-lib/x"),
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Caches/course-lib/x"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/course-lib/x"),
    ],
)
@pytest.mark.skipif("sys.platform == 'win32'", reason="paths written for POSIX")
def test_cache_folder(platform, variables, expected, monkeypatch):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(folders.sys, "platform", platform)
    assert folders.cache_folder("x") == Path(expected)
