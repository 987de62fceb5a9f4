"""Every test, and every process that a test starts, is kept off the network, and can be interrupted."""

import gc
import os
import signal
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
NO_NETWORK = str(HERE / "no_network")

sys.path[:0] = [NO_NETWORK, str(HERE / "support")]
import pytest  # noqa: E402
import sitecustomize  # noqa: E402  (an interpreter's own sitecustomize may have been imported before)
from changed_chapters import left_for_all  # noqa: E402
from slow_tests import longest_first, why_slow  # noqa: E402

if "no_network" not in str(sitecustomize.__file__):
    del sys.modules["sitecustomize"]
    import sitecustomize

if NO_NETWORK not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [NO_NETWORK, os.environ.get("PYTHONPATH")])
    )

# A shell starts what runs in its background with Ctrl-C ignored, and so would be all that tests of interrupts start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Marks as `slow` what is left for `--all`, before `-m` looks at the marks; workers take long files first."""
    if hasattr(config, "workerinput"):
        longest_first(items)
    for item in items:
        file = item.nodeid.partition("::")[0]
        if why_slow(file, getattr(item, "fixturenames", ())) or left_for_all(file):
            item.add_marker("slow")


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left_of_other_files():
    """What tests of other files left behind is collected here: a file may make warnings errors, and collect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
