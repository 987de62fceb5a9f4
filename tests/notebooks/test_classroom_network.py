"""No test reaches the network: not this process, not one that it starts, not a kernel."""

import os
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest
from nbformat.v4 import new_notebook

from course_tools.notebooks import kernels

AWAY = ("192.0.2.1", 80)  # an address kept for documentation: nobody answers there


def test_a_connection_is_refused():
    with socket.socket() as s, pytest.raises(ConnectionRefusedError, match="no network in tests"):
        s.connect(AWAY)


def test_connect_ex_and_a_datagram_are_refused():
    with socket.socket() as s, pytest.raises(OSError, match="no network in tests"):
        s.connect_ex(AWAY)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s,
        pytest.raises(OSError, match="no network in tests"),
    ):
        s.sendto(b"x", AWAY)


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
def test_version_6_is_refused():
    with socket.socket(socket.AF_INET6) as s, pytest.raises(OSError, match="no network in tests"):
        s.connect(("2001:db8::1", 80, 0, 0))


@pytest.mark.parametrize(
    "look_up",
    [
        lambda: socket.getaddrinfo("example.org", 80),
        lambda: socket.gethostbyname("example.org"),
        lambda: socket.create_connection(("example.org", 80), timeout=1),
    ],
)
def test_a_look_up_is_refused(look_up):
    with pytest.raises(OSError, match="no network in tests"):
        look_up()


def test_a_download_fails_as_without_network():
    with pytest.raises(urllib.error.URLError, match="no network in tests"):
        urllib.request.urlopen("http://example.org/", timeout=1)


def test_this_machine_may_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=lambda: server.accept()[0].close())
        thread.start()
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
        thread.join()


CODE = f"import socket; socket.create_connection({AWAY!r}, timeout=1)"


def test_a_process_that_a_test_starts():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 1 and "no network in tests" in done.stderr


def test_a_kernel(pytestconfig):
    first = [str(path) for path in pytestconfig.getini("notebook_pythonpath")]
    assert first and os.path.isfile(os.path.join(first[0], "sitecustomize.py"))
    with kernels.Session(
        new_notebook(), pytestconfig.rootpath, kernels.environment(pytestconfig.rootpath, first)
    ) as s:
        reply, _ = s.run_code(CODE)
    assert reply["status"] == "error" and "no network in tests" in reply["evalue"]
