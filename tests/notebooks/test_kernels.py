"""How kernels start: many at once, from many processes."""

import os
import tempfile
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_notebook

from course_tools.notebooks import kernels

ROOT = Path(__file__).parents[2]


def listening(folder):
    """Ports on which a kernel listens, and what it answers."""
    with kernels.Session(new_notebook(), folder, kernels.environment(ROOT)) as session:
        reply, outputs = session.run_code("6 * 7")
        kernel = psutil.Process(session.client.km.provisioner.pid)
        found = [c.laddr.port for c in kernel.net_connections("inet") if c.status == "LISTEN"]
    return found, reply["status"], outputs[0]["data"]["text/plain"]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no sockets in folders")
def test_a_kernel_needs_no_port_that_another_may_pick_too(tmp_path):
    ports, *answer = listening(tmp_path)
    # one is its debugger's, which takes what the system gives it
    assert answer == ["ok", "42"] and len(ports) <= 1


def test_a_folder_with_a_long_name_has_kernels_too(tmp_path, monkeypatch):
    long = tmp_path / ("long" * 30)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    ports, *answer = listening(tmp_path)
    assert answer == ["ok", "42"] and len(ports) >= 5
