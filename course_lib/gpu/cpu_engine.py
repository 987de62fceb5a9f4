"""The CPU engine where lessons look for it; its code is in `course_lib.machines.cpu_engine`."""
