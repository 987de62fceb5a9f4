"""CUDA C from Python: on a GPU through PyCUDA, and without one on the CPU engine. README.md beside this is the map."""

from course_lib.gpu.costs import gemm_cost, half_cost, half_step
from course_lib.gpu.gemm import gemm, gemm_numpy
from course_lib.gpu.gemm_half import gemm_half, trace_half
from course_lib.gpu.traced_gemm import trace_gemm, trace_steps
