"""Downloads against servers on this machine that behave, break off, lie, or are not there. No outside network."""

import contextlib
import hashlib
import http.server
import socket
import threading

import numpy as np
import pytest

from course_lib.data import download
from course_lib.data.download import RemoteFile, fetch
from course_lib.errors import BadInput

CONTENT = np.random.default_rng(8).bytes(300_000)
FILE = RemoteFile("images.gz", len(CONTENT), hashlib.md5(CONTENT).hexdigest())
HALF = len(CONTENT) // 2


class Mirror(http.server.ThreadingHTTPServer):
    """Serves `content` under every name. What it does wrong is in `faults`, used up one a request.

    A fault is a function (handler, start) that answers itself. ranges: whether Range is honoured.
    """

    daemon_threads = True

    def __init__(self, content=CONTENT, faults=(), ranges=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.faults, self.ranges = content, list(faults), ranges
        self.starts = []  # where each request asked to begin

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = self.headers.get("Range")
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        self.server.starts.append(start)
        if self.server.faults:
            return self.server.faults.pop(0)(self, start)
        self.answer(start if self.server.ranges else 0)

    def answer(self, start, content=None, upto=None, length=True, shift=0):
        """The content from `start`; `upto`: break off there; `length`: tell it; `shift`: lie about the start."""
        content = self.server.content if content is None else content
        self.send_response(206 if start else 200)
        if start:
            self.send_header(
                "Content-Range", f"bytes {start + shift}-{len(content) - 1}/{len(content)}"
            )
        if length:
            self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(content[start:upto])

    def log_message(self, *args):
        pass


@pytest.fixture
def mirror(monkeypatch):
    """Start mirrors with mirror(...); they stop with the test."""
    monkeypatch.setenv("no_proxy", "*")
    running = []

    def start(*args, **options):
        server = Mirror(*args, **options)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def nobody():
    """An address at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/"


def breaks_off(handler, start):
    handler.answer(start, upto=HALF)


def not_found(handler, start):
    handler.send_error(404)


def server_error(handler, start):
    handler.send_error(503)


def web_page(handler, start):
    handler.answer(0, content=b"<html>Please log in to this hotel's network</html>")


def wrong_place(handler, start):
    handler.answer(start, shift=1)


def endless(handler, start):
    handler.answer(0, content=CONTENT * 20, length=False)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_a_good_file(mirror, tmp_path, capsys):
    server = mirror()
    path = fetch(FILE, [server.address], tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "images.gz" and path.read_bytes() == CONTENT
    assert files_in(path.parent) == ["images.gz"]
    shown = capsys.readouterr()
    assert "\rimages.gz: 0.3 of 0.3 MB (100%)\n" in shown.err and shown.out == ""


def test_a_file_that_is_there_is_not_asked_for_again(mirror, tmp_path):
    server = mirror()
    for _ in range(2):
        fetch(FILE, [server.address], tmp_path)
    assert server.starts == [0]


def test_a_damaged_file_that_is_there_is_replaced(mirror, tmp_path):
    (tmp_path / "images.gz").write_bytes(CONTENT[:-1] + b"?")
    assert fetch(FILE, [mirror().address], tmp_path).read_bytes() == CONTENT


def test_broken_off_and_resumed(mirror, tmp_path):
    server = mirror(faults=[breaks_off])
    assert fetch(FILE, [server.address], tmp_path).read_bytes() == CONTENT
    assert server.starts == [0, HALF]


def test_resumed_on_another_mirror(mirror, tmp_path):
    first, second = mirror(faults=[breaks_off]), mirror()
    assert fetch(FILE, [first.address, second.address], tmp_path).read_bytes() == CONTENT
    assert (first.starts, second.starts) == ([0], [HALF])


def test_interrupted_by_the_user_and_resumed_later(mirror, tmp_path, monkeypatch):
    server = mirror()

    def stop(file, done, end=""):
        if done > HALF:
            raise KeyboardInterrupt
        return 0.0

    with monkeypatch.context() as patch:
        patch.setattr(download, "_show", stop)
        with pytest.raises(KeyboardInterrupt):
            fetch(FILE, [server.address], tmp_path)
    assert files_in(tmp_path) == ["images.gz.part"]
    kept = (tmp_path / "images.gz.part").stat().st_size
    assert kept > HALF
    assert fetch(FILE, [server.address], tmp_path).read_bytes() == CONTENT
    assert server.starts == [0, kept]


def test_a_server_without_range_starts_again(mirror, tmp_path):
    server = mirror(faults=[breaks_off], ranges=False)
    assert fetch(FILE, [server.address], tmp_path).read_bytes() == CONTENT
    assert server.starts == [0, HALF]


def test_a_complete_part_needs_no_network(tmp_path, nobody):
    """Stopped between the last byte and the renaming."""
    (tmp_path / "images.gz.part").write_bytes(CONTENT)
    assert fetch(FILE, [nobody], tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("rest", [b"wrong" * 10, bytes(len(CONTENT)), CONTENT + b"more"])
def test_a_part_of_something_else_is_thrown_away(mirror, tmp_path, rest):
    (tmp_path / "images.gz.part").write_bytes(rest)
    assert fetch(FILE, [mirror().address], tmp_path).read_bytes() == CONTENT
    assert files_in(tmp_path) == ["images.gz"]


@pytest.mark.parametrize("fault", [not_found, server_error, web_page, endless, breaks_off])
def test_the_next_mirror_helps(mirror, tmp_path, fault):
    bad, good = mirror(faults=[fault] * 9), mirror()
    assert fetch(FILE, [bad.address, good.address], tmp_path).read_bytes() == CONTENT


def test_a_mirror_that_resumes_at_the_wrong_place(mirror, tmp_path):
    bad, good = mirror(faults=[breaks_off, wrong_place]), mirror(faults=[not_found])
    assert fetch(FILE, [bad.address, good.address], tmp_path).read_bytes() == CONTENT


def test_truncated(mirror, tmp_path):
    """A shorter file that the server believes to be whole."""
    server = mirror(content=CONTENT[:-7])
    with pytest.raises(
        BadInput, match=r"images\.gz could not be .* offers 299,993 bytes, the file has 300,000"
    ):
        fetch(FILE, [server.address], tmp_path)
    assert files_in(tmp_path) == []


def test_truncated_without_a_length(mirror, tmp_path):
    server = mirror(faults=[lambda h, start: h.answer(start, upto=HALF, length=False)] * 9)
    with pytest.raises(BadInput, match="the connection ended after 150,000 of 300,000 bytes"):
        fetch(FILE, [server.address], tmp_path)
    assert files_in(tmp_path) == ["images.gz.part"]  # the next call goes on from there


def test_corrupt(mirror, tmp_path):
    server = mirror(content=CONTENT[:HALF] + b"?" + CONTENT[HALF + 1 :])
    with pytest.raises(BadInput, match="wrong MD5 checksum"):
        fetch(FILE, [server.address], tmp_path)
    assert files_in(tmp_path) == []


def test_endless(mirror, tmp_path):
    server = mirror(faults=[endless] * 9)
    with pytest.raises(BadInput, match="wrong MD5 checksum"):
        fetch(FILE, [server.address], tmp_path)
    assert files_in(tmp_path) == []


def test_all_mirrors_down(tmp_path, nobody, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(BadInput) as caught:
        fetch(FILE, [nobody, "http://mirror.invalid/"], tmp_path)
    message = str(caught.value)
    assert message.startswith("images.gz could not be downloaded. Tried: ")
    assert nobody in message and "http://mirror.invalid/" in message
    assert files_in(tmp_path) == []


def test_a_server_that_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(BadInput, match="timed out"),
    ):
        fetch(FILE, [f"http://127.0.0.1:{silent.getsockname()[1]}/"], tmp_path)


def test_a_server_that_talks_something_else(mirror, tmp_path):
    server = mirror(faults=[lambda h, start: h.wfile.write(b"220 mail.example ESMTP\r\n\r\n")] * 9)
    with pytest.raises(BadInput, match="could not be downloaded"):
        fetch(FILE, [server.address], tmp_path)


def test_a_folder_that_cannot_be_made(mirror, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        fetch(FILE, [mirror().address], tmp_path / "file" / "folder")


def test_a_full_disk(mirror, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download, "_copy", full)
    with pytest.raises(BadInput, match="cannot be written: No space left on device"):
        fetch(FILE, [mirror().address], tmp_path)
    assert "images.gz" not in files_in(tmp_path)


def test_two_at_once_download_once(mirror, tmp_path):
    server = mirror()
    paths = []
    threads = [
        threading.Thread(target=lambda: paths.append(fetch(FILE, [server.address], tmp_path)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [path.read_bytes() == CONTENT for path in paths] == [True] * 4
    assert server.starts == [0]
