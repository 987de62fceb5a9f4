"""Ranks for a notebook: every parallel cell has a deadline, and every fault an error that names the rank."""

import os
import pickle
import re
import threading
import time
from contextlib import suppress
from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.machines.books import account, balance
from course_lib.machines.ranks import launch, parcel, px, rank, spare
from course_lib.machines.ranks.errors import Interrupted, RankError
from course_lib.machines.ranks.team import Team

GRACE = 2.0  # seconds for which the other ranks may go on after one has failed
STOPPED = "All ranks were stopped. The next parallel cell starts new ones, without the variables of these."
_current: list = []


def cluster(n=4, timeout=60, profile=None, progress=True, start=None):
    """n ranks for this notebook: `with cluster(n=4) as c:`, or `c = cluster(4)` and `%%px` cells.

    timeout: seconds that a parallel cell may take. profile: name of an ipyparallel profile (Slurm, PBS) whose ranks to
    take instead of this machine's. progress: says what it waits for. start: seconds within which the ranks must be
    ready; None: $COURSE_MPI_START, else 60, or as the profile says. One cluster serves a notebook: a second call
    with the same n and profile returns the first one's, with the new timeout and start; another n replaces it.
    Raises BadInput for an n, timeout or start that cannot be, RankError where the ranks do not start.
    """
    if number := os.environ.get(rank.MARK):
        raise BadInput(f"this is rank {number} of a cluster: only the notebook itself starts ranks")
    n = check_count("n (ranks)", n)
    timeout = launch.check_seconds(timeout)
    start = launch.start_seconds(start, profile)
    if not _current or (_current[0].n, _current[0].profile) != (n, profile):
        if _current:
            _current.pop().replaced_by(n)
        _current.append(Cluster(n, timeout, profile, progress))
    _current[0].timeout, _current[0].within = timeout, start
    return _current[0].start()


def current():
    """The notebook's cluster. Raises BadInput where there is none."""
    if not _current:
        said = "there are no ranks yet (after a restart of the kernel: no longer)"
        raise BadInput(f"{said}: run the cell with mpi.cluster(4) first")
    return _current[0]


class Cluster:
    """See `cluster`. `team.client` is the ipyparallel Client; what is sent through it by hand has no deadline."""

    def __init__(self, n, timeout=60.0, profile=None, progress=True):
        self.n, self.timeout, self.profile, self.progress = n, timeout, profile, progress
        self.within = launch.start_seconds(None, profile)  # seconds for a start
        self.team: Any = None  # a Team while there are ranks
        self.ahead: Any = None  # a Team that stands ready, or is on its way
        self.replaced = ""
        self.busy = threading.Lock()

    def run(self, fn, *args, timeout=None):
        """fn(comm, *args) on every rank, comm = MPI.COMM_WORLD: the results in the order of the ranks.

        fn is a function of the notebook or of a module; it and the args are sent by value, with the notebook's
        functions, imports and arrays that fn uses, afresh in each call. What ranks print is shown, rank by rank.
        timeout: seconds, else the cluster's. Raises BadInput for what cannot be sent, and RankError.
        """
        packed = parcel.pack(fn, args)
        results = self._do(lambda view: view.apply_async(rank.call, *packed), None, timeout)
        return [pickle.loads(result.get()) for result in results]

    def execute(self, code, targets=None, timeout=None):
        """The text of a cell on the targets (ranks; None: all); what they print and show comes rank by rank."""
        number = parcel.cell_number()

        def send(view):
            view.apply_async(rank.begin, number)
            return view.execute(code, silent=False, block=False)

        self._do(send, targets, timeout)

    def _do(self, call, targets, timeout):
        """call(view) for each of the targets, all at once; the AsyncResults, when all are there and shown.

        Starts the ranks where there are none. Raises BadInput, and RankError at the latest at the deadline.
        """
        limit = launch.check_seconds(self.timeout if timeout is None else timeout)
        targets = launch.check_targets(targets, self.n)
        if not self.busy.acquire(blocking=False):
            text = "another thread's parallel cell is running on these ranks"
            raise BadInput(f"{text}: wait until it has ended")
        try:
            return self._watched(call, targets, limit)
        finally:
            self.busy.release()
            if self.team is not None and self.profile is None:
                self._keep()

    def _watched(self, call, targets, limit):
        views = self.start().team.views
        end = time.monotonic() + limit
        results = {r: call(views[r]) for r in targets}
        try:
            dead, late, failed = self._watch(results, end)
            left, sent = ([], []) if dead or late else self._left(end)
            wrong = dead or late or failed or left
            error = self._error(results, dead, late, failed, limit, left, sent) if wrong else None
        except KeyboardInterrupt:
            waiting, *_ = self._lose()
            text = "".join(f"\nrank {r} {place}" for r, place in waiting.items())
            raise Interrupted(f"interrupted while{text}\n{STOPPED}") from None
        finally:
            px.show(results, more=self.team is not None)
        if error:
            raise error
        return list(results.values())

    def _watch(self, results, end):
        """(dead, unfinished, failed ranks), the last in the order of failing, when there is no more to wait for."""
        failed: list = []
        while True:
            late = [r for r, result in results.items() if not result.ready()]
            ended = [r for r in results if r not in late and r not in failed]
            new = [r for r in ended if not results[r].successful()]
            failed += new
            if new:
                end = min(end, time.monotonic() + (0 if self._aborted(results, new) else GRACE))
            if not late or time.monotonic() > end:
                return [], late, failed
            if dead := self.team.dead(0.02):
                return dead, late, failed

    def _error(self, results, dead, late, failed, limit, left, sent):
        """The RankError. Where the ranks' books agree that nothing of the cell is under way, the ranks live on."""
        traceback = ""
        if dead:
            first, text = dead[0], f"{names(dead)} died in this cell"
        elif failed:
            first, text, traceback = self._raised(results, failed)
        elif late:
            first, text = late[0], f"{names(late)} had not finished after {limit:g} s"
        else:
            first, text = int(left[0].split()[1]), f"all ranks finished this cell, but {left[0]}"
        waiting, rest, differ = {}, "", []
        if dead or late or left or self._aborted(results, failed):
            waiting, logs, differ = self._lose(dead)
            text, rest = text + (exit_text(logs, first) if dead else ""), f"\n{STOPPED}"
        seen = failed if failed or late or dead else waiting
        lines = [f"rank {r} {waiting[r]}" for r in waiting if r not in seen]
        lines = [text, *filter(None, [traceback]), *([] if left else differ), *lines, *sent]
        lines += left if failed else left[1:]
        return RankError("\n".join(lines) + rest, first, traceback, waiting)

    def _raised(self, results, failed):
        """(the first rank of those that raised the first error, what all raised, the first one's traceback)."""
        errors = {r: raised(results[r]) for r in failed}
        text, traceback = errors[failed[0]]
        alike = sorted(r for r in failed if errors[r][0] == text)
        rows = [f"{names(alike)} raised {text}"]
        rows += [f"rank {r} raised {errors[r][0]}" for r in sorted(set(failed) - set(alike))]
        return alike[0], "\n".join(rows), traceback

    def _aborted(self, results, failed):
        return any(raised(results[r])[0].startswith("Abort:") for r in failed)

    def _left(self, end):
        """(what a cell has left that the next one would meet, none where all ranks' books agree; who sent too much)."""
        asked = {r: view.apply_async(account.account) for r, view in self.team.views.items()}
        end, told, silent = max(end, time.monotonic() + GRACE), {}, []
        for r, answer in asked.items():
            while not answer.wait(0.5) and time.monotonic() < end and not self.team.dead():
                pass
            if answer.ready() and answer.successful():
                told[r] = answer.get()
            else:
                why = raised(answer)[0] if answer.ready() else "it is busy, or has ended"
                silent.append(f"rank {r} does not say what it has left ({why})")
        return silent or balance.faults(told), balance.senders(told)

    def _lose(self, dead=()):
        """Stop the ranks: ({rank: where it was}, logs, how their collectives differed).

        New ones are on their way at once, for the next cell.
        """
        if dead:
            time.sleep(0.2)  # the others come to where they wait
        waiting, entered = self.team.where()
        logs = self.team.stop()
        self.team = None
        if self.profile is None and not self._next():
            self.ahead = Team(self.n, None, self.within)
        return waiting, logs, balance.stuck(entered)

    def _keep(self):
        """New ranks stand ready from now on, for the cell after an error: they have run nothing."""
        if self.n > spare.MOST:
            spare.keep()
        elif spare.wanted() and self.ahead is None:
            with suppress(OSError):  # this cell was right: it must not fail for the next one
                self.ahead = Team(self.n, None, self.within)

    def _next(self):
        """The ranks that stand ready, or None where they are not as new ones would be."""
        if self.ahead is not None and not self.ahead.fits():
            self.ahead.stop()
            self.ahead = None
        return self.ahead

    def start(self):
        """Start the ranks, unless they are there; returns this cluster. BadInput where another one took its place."""
        if self.replaced:
            raise BadInput(self.replaced)
        if self.team is not None and (died := self.team.dead()):
            said = f"{names(died)} died between two cells; the variables of all ranks are gone."
            print(said, flush=True)
            self._end()
        if self.team is None and (team := self._next()):
            self.ahead = None
            with suppress(RankError):  # it may have ended just now
                self.team = team.meet(self._say)
        if self.team is None:
            self.team = Team(self.n, self.profile, self.within).meet(self._say)
        return self

    def replaced_by(self, n):
        """mpi.cluster was called with another n or profile: this one's ranks end, and no call brings them back."""
        self.stop()
        said = f"these {self.n} ranks were replaced when mpi.cluster({n}) was called"
        self.replaced = f"{said}: use what that call returned, or call mpi.cluster({self.n}) again"

    def _say(self, text):
        if self.progress:
            print(text, end="" if text.endswith("\n") else ", ", flush=True)

    def stop(self):
        """End all ranks, and all that belongs to them."""
        self._end()
        spare.end()

    def _end(self):
        teams = [team for team in (self.team, self.ahead) if team is not None]
        for team in teams:
            team.let_go()
        for team in teams:
            team.stop()
        self.team = self.ahead = None

    def __getstate__(self):
        raise TypeError("the ranks are started from here, and cannot be sent to a rank")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()


def names(ranks):
    """ "rank 2", "ranks 0, 1" """
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def raised(result):
    """("ZeroDivisionError: division by zero", traceback) of a result that failed, without colours."""
    try:
        result.get()
    except Exception as error:
        name = getattr(error, "ename", type(error).__name__)
        value = getattr(error, "evalue", str(error))
        # MPI's own calls follow, and the two numbers of bytes the wrong way round
        if "Message truncated" in value:
            value = value.partition(",")[0]
        trace = getattr(error, "traceback", "") if name != "SystemExit" else ""
        text = re.sub(r" \((In\[)?\d+(\]|\.py), line \d+\)$", "", f"{name}: {value}")
        return text, "\n".join(trace.splitlines())
    return "an error", ""


def exit_text(logs, r):
    """How rank r ended, as the shell around it says: ": exit status 3"; nothing where it does not say."""
    if any("Internal error" in line for line in logs.get("mpiexec", ())):
        text = ": MPI itself gave up inside a call. One cause: what send sends, an object, was received"
        return f"{text} with Recv, which takes the bytes that Send sends"
    log = "\n".join(logs.get("mpiexec", ()))
    said = re.search(rf"^rank {r} ended with status (\d+)$", log, re.MULTILINE)
    status = int(said[1]) if said else 0
    why = {9: " (by hand, or the system had no memory left)"}
    why[11] = " (a wrong address in compiled code)"
    killed = f": killed by signal {status - 128}{why.get(status - 128, '')}"
    return killed if status > 128 else f": exit status {status}" if said else ""


px.register(current)
