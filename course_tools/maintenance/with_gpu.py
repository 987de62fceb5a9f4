"""All that a machine with an NVIDIA GPU adds, in one command.

    python3 course_tools/maintenance/with_gpu.py [--quick] [--no-peers]

1. The environment that tests need, by start.py. Without nvcc on the PATH, NVIDIA's wheels for CUDA 13 go into it.
2. PyCUDA is built into it, unless it works there already.
3. The tests that need a GPU, of which none may be skipped; chapters 05 to 09, and 15, with their solutions: outputs
   compared.
4. `course bench gpu --record`, beside CuPy, PyTorch and vgre.

A step that fails is told again at the end, with exit status 1, and the later ones run nevertheless; without a GPU or a
compiler nothing is begun. Linux. **Not run on a GPU so far**: tests/project/test_with_gpu.py looks at the commands.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"
# PyTorch asks for releases of NVIDIA's wheels that nvcc's need not agree with
PEERS = ROOT / ".venv-peers"
BUILT = ("notebooks", "solutions")
START = [sys.executable, ROOT / "start.py", "test"]
INSTALL = "-m", "pip", "install", "--disable-pip-version-check"
PYCUDA = "pycuda>=2025.1.2"
NVCC_13 = "nvidia-cuda-nvcc>=13,<14", "nvidia-cuda-profiler-api>=13,<14"
WORKS = "import pycuda.driver as driver; driver.init(); print('PyCUDA works on', driver.Device(0).name())"
DRIVER = """
import ctypes, re
cuda, version, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_int()
assert cuda.cuInit(0) == 0, "the driver does not start"
assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value, "the driver finds no GPU"
cuda.cuDriverGetVersion(ctypes.byref(version))
print(version.value // 1000, re.search(r"/\\S*libcuda\\.so\\S*", open("/proc/self/maps").read())[0])
"""


def look() -> tuple[int, str]:
    """The major version of CUDA that the driver supports, and where its library lies. SystemExit without either."""
    said = subprocess.run([sys.executable, "-c", DRIVER], capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(f"no NVIDIA GPU answers here: {said.stderr.strip().splitlines()[-1]}")
    if not shutil.which("g++"):
        needed = "which builds PyCUDA and which nvcc needs"
        raise SystemExit(f"there is no g++, {needed}: install it (docs/gpu.md)")
    version, library = said.stdout.split()
    if not toolkit() and int(version) < 13:
        limits = f"the driver takes CUDA {version} at most, for which no wheel brings nvcc"
        advice = "install the toolkit of that version, or a newer driver"
        raise SystemExit(f"there is no CUDA toolkit, and {limits}: {advice}")
    return int(version), library


def toolkit() -> Path | None:
    """The folder of a CUDA toolkit: what CUDA_ROOT names, what nvcc on the PATH belongs to, the usual place."""
    beside = shutil.which("nvcc")
    roots = [Path(root) for root in (os.environ.get("CUDA_ROOT"), "/usr/local/cuda") if root]
    roots += [Path(beside).resolve().parents[1]] if beside else []
    parts = ("bin/nvcc", "include/cuda.h")
    whole = (root for root in roots if all((root / part).exists() for part in parts))
    return next(whole, None)


def run(title: str, command: Sequence[object], env: dict[str, str]) -> bool:
    """One step, in the open. Was it all right?"""
    words = [str(part) for part in command]
    print(f"\n=== {title}\n    {' '.join(words)}", flush=True)
    return subprocess.run(words, cwd=ROOT, env=env).returncode == 0


def compiler(env: dict[str, str]) -> bool:
    """nvcc first on the PATH of env: the toolkit's, or that of NVIDIA's wheels."""
    root = toolkit()
    if not root:
        if not run("nvcc, from NVIDIA's wheels", [PYTHON, *INSTALL, *NVCC_13], env):
            return False
        root = next((ROOT / ".venv/lib").glob("python3*/site-packages/nvidia/cu13"))
    env["CUDA_ROOT"] = str(root)
    env["PATH"] = os.pathsep.join([str(root / "bin"), env.get("PATH", os.defpath)])
    return True


def pycuda(env: dict[str, str], library: str) -> bool:
    """PyCUDA in .venv, built if it is not there. The linker wants libcuda.so; many drivers have libcuda.so.1 alone."""
    if run("is PyCUDA there?", [PYTHON, "-c", WORKS], env):
        return True
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "libcuda.so").symlink_to(library)
        settings = "CUDA_ENABLE_CURAND = False\n"  # no use of random numbers
        (Path(home) / ".aksetup-defaults.py").write_text(settings)
        links = os.pathsep.join(filter(None, [home, env.get("LIBRARY_PATH")]))
        user = Path.home()  # pip's settings and cache stay those of the user
        pips = {"XDG_CONFIG_HOME": f"{user}/.config", "XDG_CACHE_HOME": f"{user}/.cache"}
        own = {**pips, **env, "HOME": home, "LIBRARY_PATH": links}
        built = run("PyCUDA, two or three minutes", [PYTHON, *INSTALL, PYCUDA], own)
    return built and run("does it work?", [PYTHON, "-c", WORKS], env)


def peers(env: dict[str, str], major: int) -> bool:
    """CuPy beside PyCUDA; PyTorch and vgre in an environment of their own."""
    install = [PEERS / "bin/python", *INSTALL, "numpy", "threadpoolctl", "torch", "vgre"]
    steps: dict[str, list[object]] = {
        "CuPy, for cuBLAS": [PYTHON, *INSTALL, f"cupy-cuda{min(major, 13)}x[ctk]"],
        "room for the peers": [sys.executable, "-m", "venv", PEERS],
        "PyTorch and vgre": install,
    }
    done = [run(title, command, env) for title, command in steps.items()]
    return all(done)


def notebooks() -> list[Path]:
    """Chapters 05 to 09, 15, and their solutions, as they are stored."""
    numbers = "0[5-9]", "15"
    return sorted(
        path for name in BUILT for n in numbers for path in (ROOT / name).glob(f"{n}-*.ipynb")
    )


def main(argv: list[str] | None = None) -> int:
    purpose = "build PyCUDA, run the tests that need a GPU, measure on it"
    parser = argparse.ArgumentParser(description=purpose)
    add = partial(parser.add_argument, action="store_true")
    add("--quick", help="a glance instead of a measurement: nothing is recorded")
    add("--no-peers", help="install neither CuPy nor PyTorch nor vgre (some GB)")
    options, env = parser.parse_args(argv), dict(os.environ)
    major, library = look()
    there = run("the environment", [*START, "--version"], env) and compiler(env)
    if not (there and pycuda(env, library)):
        print("\nstopped: without PyCUDA no kernel of the course reaches the GPU (docs/gpu.md)")
        return 1
    env["COURSE_GPU"] = "cuda"
    done = {} if options.no_peers else {"peers": peers(env, major)}
    done["tests"] = run("the tests that need a GPU", [*START, "-m", "gpu"], env)
    done["chapters"] = run("chapters 05 to 09, and 15", [*START, *notebooks()], env)
    bench = [PYTHON, "-m", "course_lib", "bench", "gpu", "--quick" if options.quick else "--record"]
    bench += [] if options.no_peers else ["--peers-python", PEERS / "bin/python"]
    del env["COURSE_GPU"]
    done["bench"] = run("measuring", bench, env)
    words = [f"{step}: {'all right' if good else 'FAILED'}" for step, good in done.items()]
    print(f"\n=== {', '.join(words)}")
    return 0 if all(done.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
