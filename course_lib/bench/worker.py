"""A worker: the process of one library. It reads one command a line (JSON), obeys, and answers in one line.

Each library has its own process, so that PyTorch's, scikit-learn's and NumPy's thread pools never wait or spin
beside each other, and so that PyTorch may live in another Python. Only one worker is at work at a time.
"""

import importlib
import json
import os
import sys
import traceback

DESKS = {
    "course": ("course_lib.bench.desk_course", "CourseDesk"),
    "torch": ("course_lib.bench.desk_torch", "TorchDesk"),
    "sklearn": ("course_lib.bench.desk_sklearn", "SklearnDesk"),
    "engine": ("course_lib.bench.desk_engine", "EngineDesk"),
    "compile": ("course_lib.bench.desk_compile", "CompileDesk"),
    "numba-sim": ("course_lib.bench.desk_numba_sim", "NumbaSimDesk"),
    "vgre": ("course_lib.bench.desk_vgre", "VgreDesk"),
    "gpu": ("course_lib.bench.desk_gpu", "GpuDesk"),
    "torch-gpu": ("course_lib.bench.desk_gpu_torch", "TorchGpuDesk"),
    "mlp": ("course_lib.bench.desk_mlp", "MlpDesk"),
    "mlp-engine": ("course_lib.bench.desk_mlp", "MlpDesk"),
    "torch-gpu-training": ("course_lib.bench.desk_gpu_torch_training", "TorchGpuTrainingDesk"),
}


def main(library):
    """Serve until standard input ends. Whatever a library prints goes to standard error, not between the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    module, name = DESKS[library]
    desk = None
    for line in sys.stdin:
        try:
            if desk is None:
                desk = getattr(importlib.import_module(module), name)()
            command = json.loads(line)
            answer = {"answer": getattr(desk, command.pop("do"))(**command)}
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}", "kind": type(error).__name__}
        print(json.dumps(answer), file=answers, flush=True)
    if desk is not None:
        desk.close()
