"""As cupy.cuda: events whose time is always 1 ms, one device."""

import os


class Event:
    def record(self, stream=None):
        pass

    def synchronize(self):
        pass


def get_elapsed_time(start, end):
    return 1.0


class Device:
    def __init__(self, number=0):
        pass

    def synchronize(self):
        pass


class runtime:
    @staticmethod
    def getDeviceCount():
        return 0 if os.environ.get("FAKE_CUPY") == "no-device" else 1

    @staticmethod
    def getDeviceProperties(number):
        return {
            "name": b"Fake GPU",
            "multiProcessorCount": 108,
            "major": 8,
            "minor": 0,
            "totalGlobalMem": 40 << 30,
        }


class Graph:
    def launch(self, stream=None):
        pass


class Stream:
    """Recorded are launches in a stream of its own, inside its `with`."""

    def __init__(self, non_blocking=False):
        assert non_blocking
        self.inside = self.capturing = False

    def __enter__(self):
        self.inside = True
        return self

    def __exit__(self, *what):
        self.inside = False

    def begin_capture(self):
        assert self.inside and not self.capturing
        self.capturing = True

    def end_capture(self):
        assert self.inside and self.capturing
        self.capturing = False
        return Graph()
