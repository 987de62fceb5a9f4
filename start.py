"""The course's two commands. They need Python 3.11 to 3.13 and nothing else: no conda, compiler, MPI or GPU.

    python3 start.py lab  [jupyter options]    open the course in JupyterLab
    python3 start.py test [pytest options]     run the course's tests (--all: the slow ones too; PATH...: just these)

The first run makes an environment in the folder .venv beside this file; later runs start in seconds.
"""
# This file stays readable for Python 2.7, so that an old Python gets a sentence and not a SyntaxError.
from __future__ import print_function

import errno
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
WINDOWS = os.name == "nt"
SCRIPTS = os.path.join(VENV, "Scripts" if WINDOWS else "bin")
PYTHON = os.path.join(SCRIPTS, "python.exe" if WINDOWS else "python")
STAMP = os.path.join(VENV, "course-setup.json")  # written last: without it the environment is half made
LOG = os.path.join(ROOT, ".venv.log")
NEEDED_MB = 2000
SETUP = "requirements-setup.txt"
PINNED = {"lab": "requirements.txt", "test": "requirements-test.txt"}  # test's list contains lab's
FIRST_PAGE = "notebooks/00-start-here.ipynb"
PROGRESS = ("Downloading", "Downloaded", "Prepared", "Installed")  # uv's lines that are worth showing

# What the tools print when they fail (any of the words, in lower case), and what to say then. The first match counts.
NO_SPACE = "the disk is full: free about {0} MB (the folder is {1}) and run this command again"
CAUSES = [
    (("no space left", "not enough space", "os error 28)", "os error 112)", "quota exceeded"), NO_SPACE),
    (("certificate",), "the network's certificate is not trusted here: point SSL_CERT_FILE and PIP_CERT at your "
     "network's certificate file and run this command again"),
    (("hash mismatch", "do not match the hashes"), "a downloaded package is not the one that was pinned; "
     "it was not installed: run this command again, and report it if it stays so"),
    (("no usable wheels", "no wheels with a matching", "is not a supported wheel"),
     "a package has no ready-built file for this machine ({2}): use 64-bit Linux, macOS on Apple silicon or Windows"),
    (("ensurepip",), "this Python cannot make an environment (venv or ensurepip is missing): {3}"),
    (("permission denied", "read-only file system", "access is denied", "os error 13)", "os error 30)"),
     "a folder cannot be written (the clone {1}, or uv's cache in your home folder): "
     "use a clone in a folder of your own, and close a running JupyterLab on Windows"),
    (("name resolution", "dns error", "failed to lookup", "connection", "unreachable", "timed out", "connect error",
      "error sending request", "retrying", "failed to fetch"),
     "no network: the package index cannot be reached; connect (or set HTTPS_PROXY) and run this command again"),
]


def stop(message, status=1):
    """End with one line on stderr."""
    print("start.py: " + message, file=sys.stderr)
    sys.exit(status)


def say(message):
    print(message)
    sys.stdout.flush()


def venv_advice():
    version = "%d.%d" % sys.version_info[:2]
    if os.path.exists("/etc/debian_version"):
        return "on Debian or Ubuntu run `apt install python%s-venv` (as root, or with sudo before it)" % version
    return "install the full Python %s, from your system's packages or from python.org" % version


def check_python():
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        stop("this is Python %d.%d; the course needs Python 3.11, 3.12 or 3.13. Install one and name it, for example: "
             "python3.12 start.py lab" % sys.version_info[:2])


def environment():
    """The variables for pip, uv, JupyterLab and pytest: as if .venv were activated, other Pythons kept out."""
    env = dict(os.environ)
    for name in ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"):
        env.pop(name, None)
    env.update(VIRTUAL_ENV=VENV, UV_PYTHON_DOWNLOADS="never", JUPYTER_PREFER_ENV_PATH="1")
    # JupyterLab's defaults for the course: no question about news, no look for updates. The user's own settings win.
    config = [os.path.join(ROOT, ".jupyter"), env.get("JUPYTER_CONFIG_PATH")]
    env["JUPYTER_CONFIG_PATH"] = os.pathsep.join(path for path in config if path)
    env["PATH"] = SCRIPTS + os.pathsep + env.get("PATH", os.defpath)
    if "PIP_INDEX_URL" in env:  # uv does not read pip's settings
        env.setdefault("UV_DEFAULT_INDEX", env["PIP_INDEX_URL"])
    return env


def digest(*names):
    """One hash over files of the clone."""
    total = hashlib.sha256()
    for name in names:
        with open(os.path.join(ROOT, name), "rb") as file:
            total.update(file.read())
    return total.hexdigest()


def read_stamp():
    """What the finished environment holds; {} if there is none, it was moved, or its Python is gone."""
    try:
        with open(STAMP) as file:
            stamp = json.load(file)
        says = subprocess.check_output([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                                       stderr=subprocess.DEVNULL)
        return stamp if stamp["place"] == ROOT and stamp["python"] == says.decode().strip() else {}
    except (OSError, ValueError, KeyError, TypeError, subprocess.CalledProcessError):
        return {}


def write_stamp(stamp):
    with open(STAMP + ".new", "w") as file:
        json.dump(stamp, file)
    os.replace(STAMP + ".new", STAMP)


def lock():
    """Wait until no other start.py sets up this clone; closing the returned file lets the next one in."""
    file = open(VENV + ".lock", "a")  # noqa: SIM115 (held open on purpose)
    told = False
    while True:
        try:
            if sys.platform == "win32":
                import msvcrt
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except (BlockingIOError, PermissionError):
            if not told:
                say("another start.py is setting up this clone; waiting for it ...")
            told = True
            time.sleep(0.3)
        except OSError:
            return file  # a file system without locks: go on


def why(lines):
    """The likely cause of a failed step, from what its tool printed."""
    text = "\n".join(lines).lower()
    for words, cause in CAUSES:
        if any(word in text for word in words):
            machine = "%s %s" % (platform.system(), platform.machine())
            return cause.format(NEEDED_MB, ROOT, machine, venv_advice())
    return "the set-up failed; the last lines were:\n  " + "\n  ".join(lines[-12:])


def run_step(title, command, held):
    """Run one tool of the set-up, show that it moves, and end with one clear line if it fails."""
    say(title + " ...")
    # The child keeps the lock: if this process is killed, the next one waits until the child is gone, too.
    kept = () if WINDOWS else (held.fileno(),)
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=kept)
    lines = []
    for raw in process.stdout or ():
        lines.append(raw.decode("utf-8", "replace").strip())
        if lines[-1].startswith(PROGRESS):
            say("    " + lines[-1])
    if process.wait() != 0:
        with open(LOG, "w") as log:
            log.write("\n".join([" ".join(command)] + lines) + "\n")
        stop(why(lines) + " (everything that was printed: .venv.log)")


def install(command, wanted, held):
    """Bring .venv to what `command` needs. Anything but a finished environment of this place is made anew."""
    old = read_stamp()
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        stop("this Python has no venv module (or no ensurepip): " + venv_advice())
    if not old and shutil.disk_usage(ROOT).free < NEEDED_MB * 2**20:
        stop("not enough free disk: " + NO_SPACE.format(NEEDED_MB, ROOT))
    if old:
        os.remove(STAMP)  # from here on it is half made
    else:
        base = getattr(sys, "_base_executable", None) or sys.executable  # not .venv's own Python, about to go
        run_step("[1/4] making the environment .venv", [base, "-m", "venv", "--clear", VENV], held)
    pip = [PYTHON, "-m", "pip", "install", "--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check"]
    run_step("[2/4] fetching the installer uv", pip + ["--retries", "2", "-r", SETUP], held)
    # Adding to an environment in use (lab is open, now test) must remove nothing under it: install, not sync.
    uv, verb = [PYTHON, "-m", "uv", "pip"], [["sync"], ["install", "-r"]][bool(old)]
    run_step("[3/4] fetching and installing the packages (about 350 MB the first time)",
             uv + verb + [PINNED[command], "--require-hashes", "--only-binary", ":all:", "--python", PYTHON], held)
    run_step("[4/4] installing the course itself",
             uv + ["install", "--python", PYTHON, "--offline", "--no-deps", "--no-build-isolation", "-e", ROOT], held)
    write_stamp(dict(wanted, python=old.get("python", wanted["python"])))
    say("The environment is ready.")


def ready(command):
    """Make sure that .venv holds what `command` needs; quick when it already does."""
    def lacks():
        stamp = read_stamp()
        return any(stamp.get(key) != value for key, value in wanted.items() if key in ("lab", command))

    wanted = {"place": ROOT, "python": "%d.%d" % sys.version_info[:2]}
    wanted["lab"] = digest("pyproject.toml", "labextension/built/sources.sha256", SETUP, PINNED["lab"])
    if command == "test":
        wanted["test"] = digest(PINNED["test"])
    if lacks():
        with lock() as held:
            if lacks():  # another start.py may have done it meanwhile
                install(command, wanted, held)


def launch(command, arguments):
    """Become JupyterLab or the tests."""
    if command == "test":
        line = [PYTHON, "-m", "course_tools.maintenance.run_tests"]
    else:
        page = "--LabApp.default_url=/lab/tree/" + FIRST_PAGE
        line = [PYTHON, "-m", "course_tools.notebooks.lab", "--ServerApp.root_dir=" + ROOT, page]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            line.append("--allow-root")
    if WINDOWS:
        sys.exit(subprocess.call(line + arguments, cwd=ROOT, env=environment()))
    os.chdir(ROOT)
    os.execve(PYTHON, line + arguments, environment())


def main(arguments):
    check_python()
    if not arguments or arguments[0] not in PINNED:
        say(__doc__.strip())
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    try:
        ready(arguments[0])
        launch(arguments[0], arguments[1:])
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            stop(NO_SPACE.format(NEEDED_MB, ROOT))
        stop("%s: %s. The course needs a clone that is whole and a folder that you can write in."
             % (error.strerror, error.filename or ROOT))
    except KeyboardInterrupt:
        stop("stopped; run the same command again to go on", 130)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
