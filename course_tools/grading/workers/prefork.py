"""One process of a machine imports all that grading needs; from it the workers are forked, and share its memory.

It reads names of workers on stdin, a line each, and says on stdout "name status" of each that has ended. It ends when
its stdin is closed, and its workers end with it.
"""

import gc
import os
import select
import sys
import threading
import traceback
from pathlib import Path

from course_tools.grading.workers import worker

STEP = 0.05  # seconds between two looks at the workers


class Prefork:
    """The workers that were forked from this process."""

    def __init__(self, work, fork_server):
        self.work, self.fork_server, self.running = work, fork_server, {}
        self.alive = os.pipe()  # (what workers wait for, what this process alone keeps open)

    def serve(self):
        """Fork as asked, until nobody can ask any more."""
        text, asked = b"", select.poll()
        asked.register(0, select.POLLIN)
        while True:
            for _, event in asked.poll(1000 * STEP):
                # the other end is closed: what it asked for before it ended is not begun
                if event & ~select.POLLIN:
                    return
                *names, text = (text + os.read(0, 1000)).split(b"\n")
                for name in names:
                    self.start(name.decode())
            self.look()

    def start(self, name):
        """Fork a worker."""
        twin = self.fork_server.twin()
        pid = os.fork()
        if pid == 0:
            self._become_worker(twin, name)
        twin.close()
        self.running[pid] = name

    def look(self):
        """Say who has ended."""
        for pid in list(self.running):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                os.write(
                    1, f"{self.running.pop(pid)} {os.waitstatus_to_exitcode(status)}\n".encode()
                )

    def _become_worker(self, twin, name):
        status = 1
        try:
            self.fork_server.close()
            os.close(self.alive[1])
            _redirect(Path(self.work.folder, f"{name}.log"))
            threading.Thread(target=self._end_with_the_nest, daemon=True).start()
            worker.work_on(self.work, twin, name)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _end_with_the_nest(self):
        os.read(self.alive[0], 1)
        os._exit(3)


def _redirect(log):
    """What is printed from now on goes there; nothing is read."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for handle, target in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(handle, target)


def main(folder):
    """Serve; returns 0."""
    with worker.ready(folder) as (work, fork_server):
        gc.freeze()
        Prefork(work, fork_server).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
