"""The CPU engine under PyCUDA's names, for `course_lib.gpu.device`: modules and launches; memory, arrays, copies."""
