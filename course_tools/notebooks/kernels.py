"""One kernel of this interpreter: run cells in order, and know within seconds when it died or hangs."""

import contextlib
import os
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

from course_tools.notebooks import leftovers

DEFAULT_SEED = "20160501"  # of the checks, in builds and tests: what is stored can be made again
INTERRUPT_SECONDS = 3
LONGEST = 80  # characters of a folder with sockets in it: an address of one has 107
INLINE = "module://matplotlib_inline.backend_inline"


class KernelLost(RuntimeError):
    """The kernel died or had to be ended: nothing after this cell can run."""


def environment(root, first=(), **more):
    """The variables of a kernel: the clone importable, hashes and check seeds fixed, no settings of the user's own."""
    unwanted = ("NO_COLOR", "PYTHONSTARTUP", "PYTHONWARNINGS")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    env.setdefault("COURSE_SEED", DEFAULT_SEED)
    paths = [*first, str(root), *env.get("PYTHONPATH", "").split(os.pathsep)]
    path = os.pathsep.join(dict.fromkeys(filter(None, paths)))
    fixed = {"PYTHONHASHSEED": "0", "PYTHONPATH": path, "MPLBACKEND": INLINE}
    return env | more | fixed


class Session:
    """A kernel for one notebook. `with Session(notebook, folder, env) as s: s.run(cell, index)`.

    notebook: an nbformat notebook that holds the cells; folder: the working directory; timeout: seconds for a cell.
    """

    def __init__(self, notebook, folder, env, timeout=300.0):
        self.notebook, self.folder, self.env, self.timeout = notebook, Path(folder), env, timeout
        self.reply = None

    def __enter__(self):
        self._temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._stderr = open(Path(self._temporary.name) / "stderr.txt", "w+", errors="replace")
        self.client: Any = _client_class()(
            self.notebook,
            km=_manager(Path(self._temporary.name)),
            allow_errors=True,
            timeout=self.timeout,
            startup_timeout=120,
            iopub_timeout=30,
            raise_on_iopub_timeout=True,
            record_timing=False,
            on_cell_executed=self._keep_reply,
        )
        self.client.log.disabled = True  # what goes wrong is raised, and said once
        self.mark = uuid.uuid4().hex
        env = {**self.env, "IPYTHONDIR": self._temporary.name, leftovers.MARK: self.mark}
        try:
            self.client.start_new_kernel(cwd=str(self.folder), env=env, stderr=self._stderr)
            self.client.start_new_kernel_client()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _keep_reply(self, cell, cell_index, execute_reply):
        self.reply = execute_reply["content"]

    def run(self, cell, index):
        """Run a code cell: its outputs and count are filled in. Return the reply: "ok" or "error" under "status".

        Raises `KernelLost` if the kernel dies or the cell takes too long (the kernel is ended then).
        """
        from nbclient.exceptions import CellTimeoutError, DeadKernelError

        self.reply = None
        try:
            self.client.execute_cell(cell, index)
        except DeadKernelError:
            lost = KernelLost(f"the kernel died in this cell{self._last_words()}")
            self.close()
            raise lost from None
        except CellTimeoutError:
            where = self._interrupted(cell)
            self.close()
            raise KernelLost(f"the cell did not end within {self.timeout:g} s\n{where}") from None
        if self.reply is None or self.reply["status"] not in ("ok", "error"):
            raise KernelLost(f"the kernel did not run this cell (its reply: {self.reply})")
        return self.reply

    def run_code(self, code):
        """Run a piece of code as a new cell at the end of the notebook; return (reply, outputs)."""
        from nbformat.v4 import new_code_cell

        cell = new_code_cell(code)
        self.notebook.cells.append(cell)
        reply = self.run(cell, len(self.notebook.cells) - 1)
        return reply, cell.outputs

    def processor_seconds(self):
        """Those so far of the kernel and of what it has started, as far as it is still in sight; 0 once it is gone."""
        import psutil

        found = 0.0
        try:
            kernel = psutil.Process(self.client.km.provisioner.pid)
            for process in [kernel, *kernel.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    found += sum(process.cpu_times()[:4])  # own, and of children that have ended
        except (psutil.Error, AttributeError):
            return 0.0
        return found

    def _last_words(self):
        self._stderr.seek(0)
        lines = [line.rstrip() for line in self._stderr if line.strip()]
        for i, line in enumerate(lines):
            if line.startswith("Fatal Python error"):
                return ":\n" + "\n".join(lines[i : i + 8])
        return ""

    def _interrupted(self, cell):
        errors = [output for output in cell.outputs if output["output_type"] == "error"]
        if errors:
            return "it was interrupted here:\n" + "\n".join(errors[-1]["traceback"])
        heeded = f"it did not heed the interrupt within {INTERRUPT_SECONDS} s"
        return f"{heeded}, so its kernel was ended"

    def close(self):
        """End the kernel; calling it again does nothing."""
        if self.client.km is not None:
            self.client.shutdown_kernel = "immediate"
            self.client._cleanup_kernel()
            self.client.km = None
        self._stderr.close()
        self._temporary.cleanup()


def _client_class():
    """The client of nbclient; it interrupts a cell that takes too long and waits a moment for the traceback."""
    import asyncio

    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError
    from nbclient.util import ensure_async

    class Client(NotebookClient):
        async def _async_handle_timeout(self, timeout, cell=None):
            assert cell is not None and self.km is not None
            await ensure_async(self.km.interrupt_kernel())
            for _ in range(10 * INTERRUPT_SECONDS):
                await asyncio.sleep(0.1)
                if any(output["output_type"] == "error" for output in cell.outputs):
                    break
            raise CellTimeoutError.error_from_timeout_and_cell("too slow", timeout, cell)

    return Client


def _manager(folder):
    """A kernel manager that starts this very interpreter, whatever kernels the user has installed.

    It speaks with its kernel through sockets in this folder: of kernels that start at once over TCP, two may pick the
    same port, and then one dies or never answers. Windows, and a folder with a long name, have TCP alone.
    """
    from ipykernel.kernelspec import RESOURCES
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = KernelSpec(argv=argv, display_name="Python 3", language="python", resource_dir=RESOURCES)

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name):
            return spec

    where = {}
    if os.name == "posix" and len(str(folder)) <= LONGEST:
        where = {"transport": "ipc", "connection_file": str(folder / "kernel.json")}
    return AsyncKernelManager(kernel_name="python3", kernel_spec_manager=ThisPython(), **where)
