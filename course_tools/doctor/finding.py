"""What one look at the machine found, and how a look is kept from hanging or crashing."""

import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

YES, NO, UNKNOWN = "yes", "no", "unknown"


@dataclass(frozen=True)
class Finding:
    """topic: "cores", ...; there: yes, no or unknown; text: what was found; add: the command that adds it, or "".

    facts: what the table of chapters asks about (numbers and names), the same under --json.
    """

    topic: str
    there: str
    text: str
    add: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def look(topic: str, probe: Callable[[], Finding], seconds: float) -> Finding:
    """The probe's finding; if it raises, or takes longer than `seconds`, a finding that says so. Never raises."""
    found: list[Finding] = []

    def run() -> None:
        try:
            found.append(probe())
        except BaseException as error:  # of a strange machine; the other probes go on
            why = f"could not be determined ({type(error).__name__}: {error})"
            found.append(Finding(topic, UNKNOWN, why))

    # a daemon: a probe that hangs does not keep the doctor alive
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else Finding(topic, UNKNOWN, f"did not answer within {seconds:g} s")


def look_all(probes: Mapping[str, Callable[[], Finding]], seconds: float) -> list[Finding]:
    """All the probes side by side, in their order."""
    findings: dict[str, Finding] = {}

    def store(topic: str) -> None:
        findings[topic] = look(topic, probes[topic], seconds)

    threads = [threading.Thread(target=store, args=[topic], daemon=True) for topic in probes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [findings[topic] for topic in probes]


def ask(*command: str, seconds: float = 5, env: Mapping[str, str] | None = None) -> str | None:
    """What a program prints on stdout; None if it is not there, fails, or takes too long."""
    how: Mapping[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True}
    try:
        done = subprocess.run(command, timeout=seconds, env={**os.environ, **(env or {})}, **how)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
