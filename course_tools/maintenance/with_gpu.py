"""All that a machine with an NVIDIA GPU adds, in one command.

    python3 course_tools/maintenance/with_gpu.py [--quick] [--no-peers]

1. The environment that tests need, by start.py. Without nvcc on the PATH, NVIDIA's wheels for CUDA 13 go into it.
2. PyCUDA is built into it, unless it works there already.
3. The tests that need a GPU, of which none may be skipped; chapters 05 to 09 and their solutions, outputs compared.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"
PEERS = (
    ROOT / ".venv-peers"
)  # PyTorch asks for releases of NVIDIA's wheels that nvcc's need not agree with
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
        raise SystemExit(
            "there is no g++, which builds PyCUDA and which nvcc needs: install it (docs/gpu.md)"
        )
    version, library = said.stdout.split()
    if not toolkit() and int(version) < 13:
        raise SystemExit(
            f"there is no CUDA toolkit, and the driver takes CUDA {version} at most, for which no wheel "
            "brings nvcc: install the toolkit of that version, or a newer driver"
        )
    return int(version), library


def toolkit() -> Path | None:
    """The folder of a CUDA toolkit: what CUDA_ROOT names, what nvcc on the PATH belongs to, the usual place."""
    beside = shutil.which("nvcc")
    roots = [Path(root) for root in (os.environ.get("CUDA_ROOT"), "/usr/local/cuda") if root]
    roots += [Path(beside).resolve().parents[1]] if beside else []
    return next(
        (
            root
            for root in roots
            if (root / "bin/nvcc").exists() and (root / "include/cuda.h").exists()
        ),
        None,
    )


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
    env["CUDA_ROOT"], env["PATH"] = (
        str(root),
        os.pathsep.join([str(root / "bin"), env.get("PATH", os.defpath)]),
    )
    return True


def pycuda(env: dict[str, str], library: str) -> bool:
    """PyCUDA in .venv, built if it is not there. The linker wants libcuda.so; many drivers have libcuda.so.1 alone."""
    if run("is PyCUDA there?", [PYTHON, "-c", WORKS], env):
        return True
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "libcuda.so").symlink_to(library)
        (Path(home) / ".aksetup-defaults.py").write_text(
            "CUDA_ENABLE_CURAND = False\n"
        )  # no use of random numbers
        links = os.pathsep.join(filter(None, [home, env.get("LIBRARY_PATH")]))
        user = Path.home()  # pip's settings and cache stay those of the user
        own = {
            **env,
            "HOME": home,
            "LIBRARY_PATH": links,
            "XDG_CONFIG_HOME": env.get("XDG_CONFIG_HOME", f"{user}/.config"),
            "XDG_CACHE_HOME": env.get("XDG_CACHE_HOME", f"{user}/.cache"),
        }
        built = run("PyCUDA, two or three minutes", [PYTHON, *INSTALL, PYCUDA], own)
    return built and run("does it work?", [PYTHON, "-c", WORKS], env)


def peers(env: dict[str, str], major: int) -> bool:
    """CuPy beside PyCUDA; PyTorch and vgre in an environment of their own."""
    return all(
        [
            run("CuPy, for cuBLAS", [PYTHON, *INSTALL, f"cupy-cuda{min(major, 13)}x[ctk]"], env),
            run("room for the peers", [sys.executable, "-m", "venv", PEERS], env),
            run(
                "PyTorch and vgre",
                [PEERS / "bin/python", *INSTALL, "numpy", "threadpoolctl", "torch", "vgre"],
                env,
            ),
        ]
    )


def notebooks() -> list[Path]:
    """Chapters 05 to 09 and their solutions, as they are stored."""
    return sorted(
        path
        for folder in ("notebooks", "solutions")
        for path in (ROOT / folder).glob("0[5-9]-*.ipynb")
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="build PyCUDA, run the tests that need a GPU, measure on it"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a glance instead of a measurement: nothing is recorded",
    )
    parser.add_argument(
        "--no-peers",
        action="store_true",
        help="install neither CuPy nor PyTorch nor vgre (some GB)",
    )
    options, env = parser.parse_args(argv), dict(os.environ)
    major, library = look()
    if not (
        run("the environment", [*START, "--version"], env)
        and compiler(env)
        and pycuda(env, library)
    ):
        print("\nstopped: without PyCUDA no kernel of the course reaches the GPU (docs/gpu.md)")
        return 1
    env["COURSE_GPU"] = "cuda"
    done = {} if options.no_peers else {"peers": peers(env, major)}
    done["tests"] = run("the tests that need a GPU", [*START, "-m", "gpu"], env)
    done["chapters"] = run("chapters 05 to 09", [*START, *notebooks()], env)
    bench = [PYTHON, "-m", "course_lib", "bench", "gpu", "--quick" if options.quick else "--record"]
    bench += [] if options.no_peers else ["--peers-python", PEERS / "bin/python"]
    done["bench"] = run(
        "measuring", bench, {name: value for name, value in env.items() if name != "COURSE_GPU"}
    )
    print(
        f"\n=== {', '.join(f'{step}: ' + ('all right' if good else 'FAILED') for step, good in done.items())}"
    )
    return 0 if all(done.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
