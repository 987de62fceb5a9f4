"""One generation of ranks: from their start to their end."""

import atexit
import json
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener, wait
from pathlib import Path
from typing import Any

from course_lib.machines.books import story
from course_lib.machines.ranks import forks, launch, leftovers, rank, spare
from course_lib.machines.ranks.errors import RankError
from course_lib.machines.ranks.profiles.site import Site

AGAIN = 2.0  # seconds after which a rank that has not answered, or come, is asked again


class Team:
    """n ranks on their way. Those of this machine may be started ahead, and met when they are needed.

    profile: None, or the name of one. start: seconds within which they must be ready, once they are awaited; None:
    those of the profile, for a batch system may let them wait for long.
    """

    def __init__(self, n, profile, start):
        self.n, self.site, self.start = n, None if profile is None else Site(profile), start
        self.surroundings = spare.surroundings()
        self.client: Any = None
        self.lines: dict[int, Any] = {}
        site = self.site
        self.folder = tempfile.mkdtemp(prefix="course-mpi-", dir=site.folder() if site else None)
        self.held = leftovers.hold(self.folder) if forks.LINUX and not site else None
        try:
            job, self.file = launch.programs(n, site, self.folder, start)
            self.supervisor = spare.take(site)
            print(json.dumps(job), file=self.supervisor.stdin, flush=True)
        except BaseException:
            shutil.rmtree(self.folder)
            raise
        atexit.register(self.stop)

    def meet(self, say):
        """Wait until all are ready to work: views[r] is the ipyparallel view of rank r, pids[r] its process.

        say: called with each text of progress. Raises RankError where they do not come up, with the logs' last lines.
        """
        site, start, file = self.site, self.start, self.file
        try:
            self.end = time.monotonic() + (site.wait if site and start is None else start)
            say("controller")
            missing = "the controller wrote no connection file"
            self._until(lambda: file.exists() and file.read_text().endswith("}"), missing)
            if site and (job := site.job(self.folder, self._until)):
                say(job)
            self._connect(file, 30 if site else start, say)
            self._join(site)
            say("ready.\n")
        except BaseException:  # an interrupt, too, leaves nothing behind
            self.stop()
            raise
        return self

    def fits(self):
        """Are they as ranks would be that were started now?"""
        return self._lives() and self.surroundings == spare.surroundings()

    def _lives(self):
        """As far as can be known without life lines: has no rank ended?"""
        return self.supervisor.poll() is None and not Path(self.folder, forks.ENDED).exists()

    def _until(self, ready, what):
        while not ready():
            late = time.monotonic() > self.end
            if late or not self._lives():
                what += ". A busy machine needs longer: mpi.cluster(..., start=180)" if late else ""
                raise RankError(f"the ranks did not start: {what}.\n{log_text(self.stop())}")
            time.sleep(0.01)

    def _connect(self, file, seconds, say):
        self._new_client(file, seconds)
        for count in range(1, self.n + 1):
            missing = f"{count - 1} of {self.n} have come"
            self._until(lambda count=count: self._known(file, seconds) >= count, missing)
            say(f"rank {count} of {self.n}")

    def _new_client(self, file, seconds, came=0):
        import ipyparallel

        self.asked = time.monotonic()
        try:
            self.client = ipyparallel.Client(str(file), timeout=seconds)
        except TimeoutError as error:
            what = f"{came} of {self.n} have come, and then: {error}"
            text = f"the ranks did not start: {what}.\n{log_text(self.stop())}"
            raise RankError(text) from error

    def _known(self, file, seconds):
        """How many engines the client knows. One that registers while a client connects is never told to that client,
        so a client that knows too few is replaced every two seconds."""
        if len(self.client.ids) < self.n and time.monotonic() > self.asked + AGAIN:
            came = len(self.client.ids)
            self.client.close()
            self._new_client(file, seconds, came)
        return len(self.client.ids)

    def _join(self, site):
        """Gives each rank its life line. Ranks are put in the order of MPI, whatever the engines' numbers are."""
        key = secrets.token_bytes(16)
        listener, target = site.listen(key, self.n) if site else self._listen(key)
        try:
            met = (listener, self.n, self.lines)
            threading.Thread(target=_accept, args=met, daemon=True).start()
            how = (target, key) if site else (target, key, self.folder, self.supervisor.pid)
            said = {i: self._said(answer) for i, answer in self._ask(how).items()}
            self._until(lambda: len(self.lines) == self.n, "not all ranks came back")
        finally:
            # `stop` has removed the socket's folder: that must not hide the error
            with suppress(FileNotFoundError):
                listener.close()
        if sorted(said[i][:2] for i in said) != [(r, self.n) for r in range(self.n)]:
            found = [said[i][:2] for i in said]
            raise RankError(f"these ranks do not share one communicator of {self.n}: {found}")
        self.views = {r: self.client[i] for i, (r, _, _) in said.items()}
        self.pids = {r: pid for r, _, pid in said.values()}

    def _ask(self, how):
        """The answer of each engine to `rank.join`, asked again every two seconds.

        The controller forgets a message to an engine whose socket is not connected yet, as happens on a busy machine.
        """
        sent: dict[int, list] = {i: [] for i in self.client.ids}
        answers: dict[int, Any] = {}
        asked = -AGAIN

        def all_have_answered():
            nonlocal asked
            answers.update({i: one for i in sent for one in sent[i] if one.ready()})
            if time.monotonic() > asked + AGAIN:
                asked = time.monotonic()
                for i in sent.keys() - answers.keys():
                    sent[i].append(self._request(i, how))
            return len(answers) == len(sent)

        self._until(all_have_answered, "not all ranks answered")
        return answers

    def _request(self, i, how):
        return self.client[i].apply_async(rank.join, *how)

    def _said(self, joined):
        try:
            return joined.get()
        except Exception as error:
            said = f"one cannot join: {error}.\n{log_text(self.stop())}"
            raise RankError(f"the ranks did not start: {said}") from error

    def _listen(self, key):
        unix = hasattr(socket, "AF_UNIX")
        address = os.path.join(self.folder, "line") if unix else ("127.0.0.1", 0)
        return (listener := Listener(address, backlog=self.n, authkey=key)), listener.address

    def dead(self, seconds=0.0):
        """The ranks that have ended, in order. Waits for the first such, at most so many seconds."""
        ended = wait(list(self.lines.values()), seconds)
        return sorted(r for r, line in self.lines.items() if line in ended)

    def where(self, seconds=1.0):
        """({rank: where it is, as text}, {rank: `account.entered`}), at the latest after the seconds.

        Dead ranks are left out, and of the second those that do not answer.
        """
        gone = self.dead()
        asked = {line: r for r, line in self.lines.items() if r not in gone}
        answers: dict = dict.fromkeys(sorted(asked.values()))
        entered = {}
        for line in asked:
            with suppress(OSError):
                line.send("where")
        end = time.monotonic() + seconds
        while asked and (ready := wait(list(asked), max(0, end - time.monotonic()))):
            for r in [asked.pop(line) for line in ready]:
                try:
                    answers[r], entered[r] = self.lines[r].recv()
                except (EOFError, OSError):  # it has ended meanwhile
                    del answers[r]
        return {r: text or self._trace(r) for r, text in answers.items()}, entered

    def _trace(self, r):
        """Where a rank is that does not answer: faulthandler in it needs no turn at the interpreter."""
        file = Path(self.folder, f"trace-{r}")
        if file.exists():  # the rank is on this machine, and listens to the signal
            with suppress(OSError):
                os.kill(self.pids[r], signal.SIGUSR1)
            time.sleep(0.2)
        return story.of_trace(file.read_text() if file.exists() else "")

    def let_go(self):
        """Its supervisor begins to kill all; `stop` waits until it has."""
        with suppress(OSError):
            self.supervisor.stdin.close()

    def stop(self):
        """Kill all ranks and what belongs to them; returns {log: its last lines}. Calling it twice does no harm."""
        atexit.unregister(self.stop)
        self.let_go()
        try:
            said = self.supervisor.stdout.read() if not self.supervisor.stdout.closed else ""
            self.supervisor.stdout.close()
            self.supervisor.wait()
        finally:
            for line in self.lines.values():
                line.close()
            if self.client is not None:
                self.client.close(linger=0)
            shutil.rmtree(self.folder, ignore_errors=True)  # where the supervisor was killed
            if self.held is not None:
                os.close(self.held)
                self.held = None
        return json.loads(said) if said else {}


def _accept(listener, n, lines):
    while len(lines) < n:
        try:
            line = listener.accept()
            lines[line.recv()] = line
        except (EOFError, AuthenticationError, ConnectionError):  # a stranger at the port: go on
            continue
        except OSError:  # the listener was closed
            return


def log_text(logs):
    """The logs as indented text."""
    return "\n".join(f"  [{name}] {line}" for name, lines in logs.items() for line in lines[-12:])
