"""A CUDA graph: launches that are recorded once and then launched as a whole. Not run on a GPU so far.

PyCUDA 2026.1 has no graphs (two pull requests, 343 and 424, are open), so the driver's own functions are called, on
the stream that PyCUDA has made.
"""

import ctypes

GLOBAL = 0  # CU_STREAM_CAPTURE_MODE_GLOBAL: nothing else may call the driver meanwhile


class Graph:
    """What `record()` launches into a stream, as a graph. Memory that it uses must stay where it is.

    Raises OSError without a driver, AttributeError for one older than CUDA 11.4, RuntimeError for what it refuses.
    """

    def __init__(self, stream, record):
        self.driver, self.stream = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(stream.handle)
        graph, self.made = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuStreamBeginCapture_v2", self.stream, GLOBAL)
        try:
            record()
        finally:
            self._call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        made = ctypes.byref(self.made)
        self._call("cuGraphInstantiateWithFlags", made, graph, ctypes.c_ulonglong(0))
        self._call("cuGraphDestroy", graph)

    def launch(self):
        """All of it, in the stream; does not wait."""
        self._call("cuGraphLaunch", self.made, self.stream)

    def _call(self, name, *args):
        status = getattr(self.driver, name)(*args)
        if status:
            raise RuntimeError(f"{name} failed with CUresult {status}")
