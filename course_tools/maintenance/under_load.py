"""Runs the tests some times while programs that do nothing but count keep the processor busy: no test may notice.

python -m course_tools.maintenance.under_load [--times 3] [--loops 4] [options of `start.py test`]
"""

import argparse
import contextlib
import subprocess
import sys
import time

from course_tools.maintenance import run_tests


@contextlib.contextmanager
def busy(loops):
    """So many programs that never rest, as long as the block lasts."""
    counting = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for program in counting:
            program.kill()
            program.wait()


def main(argv=None):
    """Say how each run ended; the exit status is 0 if all were green."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=3, help="how often the tests run")
    parser.add_argument("--loops", type=int, default=4, help="how many programs count beside them")
    args, options = parser.parse_known_args(argv)
    ended = []
    with busy(args.loops):
        for _ in range(args.times):
            began = time.monotonic()
            status = run_tests.main(options)
            ended.append((status, time.monotonic() - began))
    for number, (status, seconds) in enumerate(ended, 1):
        result = "green" if status == 0 else f"RED ({status})"
        print(f"run {number}, {args.loops} busy programs beside it: {result}, {seconds:.0f} s")
    return int(any(status for status, _ in ended))


if __name__ == "__main__":
    sys.exit(main())
