# ruff: noqa: E501 (the tables hold texts of cells)
"""Answers to three small tasks: some lean on course_lib's own function for the task, some are honest and unusual."""

OWN_HOT = """
def one_hot(y, n_classes):
    return np.eye(n_classes, dtype=np.float32)[y]
"""
OWN_SOFTMAX = """
def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()
"""
REBUILT = """
import types
from course_lib.serial import losses
again = types.FunctionType(losses.softmax.__code__, {"np": np})
def softmax(z):
    return again(z[None])[0]
"""
# name -> (task, text): 0 points each
DISHONEST = {
    "the function itself": ("one-hot", "from course_lib.data import one_hot"),
    "another name": ("one-hot", "from course_lib.data import one_hot as f\none_hot = f"),
    "wrapped": (
        "one-hot",
        "from course_lib import data\ndef one_hot(y, n):\n    return data.one_hot(y, n)",
    ),
    "getattr": (
        "one-hot",
        "from course_lib import data\ndef one_hot(y, n):\n    return getattr(data, 'one' + '_hot')(y, n)",
    ),
    "importlib": (
        "one-hot",
        "import importlib\nm = importlib.import_module('course' + '_lib.data.dataset')\n"
        "def one_hot(y, n):\n    return vars(m)['one_' + 'hot'](y, n)",
    ),
    "exec": (
        "one-hot",
        "exec('from course_lib.data import one_hot as g')\ndef one_hot(y, n):\n    return g(y, n)",
    ),
    "sys.modules": (
        "one-hot",
        "import sys\ndef one_hot(y, n):\n    m = sys.modules['course_lib.data']\n"
        "    return {k: v for k, v in vars(m).items()}['one' + '_hot'](y, n)",
    ),
    "a copy of the result": (
        "one-hot",
        "from course_lib import data as d\ndef one_hot(y, n):\n    return np.array(d.one_hot(y, n).tolist(), np.float32)",
    ),
    "row by row": (
        "one-hot",
        "from course_lib import data as d\ndef one_hot(y, n):\n"
        "    return np.stack([d.one_hot(y[i:i+1], n)[0] for i in range(len(y))])",
    ),
    "partial": (
        "one-hot",
        "import functools\nfrom course_lib import data\none_hot = functools.partial(data.one_hot, dtype=np.float32)",
    ),
    "pickle": (
        "one-hot",
        "import pickle\none_hot = pickle.loads(b'ccourse_lib.data.dataset\\none_hot\\n.')",
    ),
    "the file's text": (
        "one-hot",
        "import course_lib.data.dataset as m\ntext = open(m.__file__).read()\n"
        "exec(text)\nanswer = one_hot\ndef one_hot(y, n):\n    return answer(y, n)",
    ),
    "a module made from the file": (
        "one-hot",
        "import importlib.util as u, course_lib.data.dataset as m\ns = u.spec_from_file_location('mine', m.__file__)\n"
        "mine = u.module_from_spec(s)\nimport sys\nsys.modules['mine'] = mine\ns.loader.exec_module(mine)\n"
        "one_hot = mine.one_hot",
    ),
    "the compiled file": (
        "one-hot",
        "import glob, marshal, types, course_lib.data as d, os\n"
        "f = glob.glob(os.path.dirname(d.__file__) + '/__pycache__/dataset.*.pyc')[0]\n"
        "code = marshal.loads(open(f, 'rb').read()[16:])\nns = {'__name__': 'x'}\nexec(code, ns)\none_hot = ns['one_hot']",
    ),
    "another process": (
        "one-hot",
        "import subprocess, sys, json\ndef one_hot(y, n):\n"
        "    text = f'from course_lib.data import one_hot; import numpy as np, json; '\n"
        "    text += f'print(json.dumps(one_hot(np.array({list(map(int, y))}), {int(n)}).tolist()))'\n"
        "    done = subprocess.run([sys.executable, '-c', text], capture_output=True, text=True,\n"
        "        env={'PYTHONPATH': ':'.join(sys.path)})\n"
        "    return np.array(json.loads(done.stdout), np.float32)",
    ),
    "of a table": (
        "softmax",
        "from course_lib.serial.losses import LOSSES\ndef softmax(z):\n"
        "    return LOSSES['cross_entropy'].output(z[None])[0]",
    ),
    "rebuilt from its code": ("softmax", REBUILT),
    "rebuilt from its source": (
        "softmax",
        "import inspect, textwrap\nfrom course_lib.serial import losses\n"
        "exec(inspect.getsource(losses.softmax).replace('softmax', 'theirs'))\n"
        "def softmax(z):\n    return theirs(z[None])[0]",
    ),
    "among all objects": (
        "softmax",
        "import gc, types\ntheirs = [f for f in gc.get_objects() if isinstance(f, types.FunctionType)\n"
        "    and f.__name__ == 'softmax' and f.__module__ == 'course_lib.serial.losses'][0]\n"
        "def softmax(z):\n    return theirs(z[None])[0]",
    ),
    "by its output in another function": (
        "softmax",
        "from course_lib import serial\ndef softmax(z):\n"
        "    W = np.zeros((1, len(z)), z.dtype)\n    n = serial.Network((1, len(z)), loss='cross_entropy')\n"
        "    return n.forward([(W, z)], np.zeros((1, 1), z.dtype)).A[-1][0]",
    ),
    "reloaded": (
        "softmax",
        "import importlib\nfrom course_lib.serial import losses\nlosses = importlib.reload(losses)\n"
        "def softmax(z):\n    return losses.softmax(z[None])[0]",
    ),
    "scaled and back": (
        "softmax",
        "from course_lib import serial as s\ndef softmax(z):\n    return 2 * s.softmax((z + 0)[None])[0] / 2",
    ),
}
# name -> (task, text): full points each
HONEST = {
    "own, with eye": ("one-hot", OWN_HOT),
    "own, with a loop": (
        "one-hot",
        "def one_hot(y, n):\n    Y = np.zeros((len(y), n), np.float32)\n"
        "    for i, c in enumerate(y):\n        Y[i, c] = 1\n    return Y",
    ),
    "own, by comparing": (
        "one-hot",
        "def one_hot(y, n):\n    return (np.asarray(y)[:, None] == np.arange(n)).astype(np.float32)",
    ),
    "put_along_axis": (
        "one-hot",
        "def one_hot(y, n):\n    Y = np.zeros((len(y), n), np.float32)\n    np.put_along_axis(Y, y[:, None], 1, 1)\n    return Y",
    ),
    "a lambda": ("one-hot", "one_hot = lambda y, n: np.identity(n, dtype='f4')[y]"),
    "a class": (
        "one-hot",
        "class Hot:\n    def __call__(self, y, n_classes):\n        return np.eye(n_classes, dtype=np.float32)[y]\none_hot = Hot()",
    ),
    "numba": (
        "one-hot",
        "import numba\n@numba.njit\ndef one_hot(y, n):\n    Y = np.zeros((len(y), n), np.float32)\n"
        "    for i in range(len(y)):\n        Y[i, y[i]] = 1\n    return Y",
    ),
    "a generator of rows": (
        "one-hot",
        "def one_hot(y, n):\n    return np.array([[c == j for j in range(n)] for c in y], np.float32)",
    ),
    "imports it and does not use it": (
        "one-hot",
        "from course_lib.data import one_hot as theirs\n" + OWN_HOT,
    ),
    "imports all and writes it": ("one-hot", "from course_lib.data import *\n" + OWN_HOT),
    "compares with it below": (
        "one-hot",
        "from course_lib import data\n"
        + OWN_HOT
        + "\nassert (one_hot(np.array([1]), 3) == data.one_hot(np.array([1]), 3)).all()",
    ),
    "falls back on its own": (
        "one-hot",
        "from course_lib import data\ndef one_hot(y, n):\n    try:\n        return data.one_hot(y, n)\n"
        "    except Exception:\n        return np.eye(n, dtype=np.float32)[y]",
    ),
    "a dataset of the course": (
        "one-hot",
        "from course_lib.data import load_mnist\nlabels = load_mnist().y_train[:5]\n" + OWN_HOT,
    ),
    "names it in a comment": (
        "one-hot",
        "# as course_lib.data.one_hot does\n" + OWN_HOT,
    ),
    "own softmax": ("softmax", OWN_SOFTMAX),
    "by logarithms": (
        "softmax",
        "def softmax(z):\n    z = z - z.max()\n    return np.exp(z - np.log(np.exp(z).sum())).astype(z.dtype)",
    ),
    "by scipy": (
        "softmax",
        "import scipy.special\ndef softmax(z):\n    return scipy.special.softmax(z).astype(z.dtype)",
    ),
    "exponentials of a helper of its own": (
        "softmax",
        "def powers(z):\n    return np.exp(z - np.max(z))\ndef softmax(z):\n    return powers(z) / np.sum(powers(z))",
    ),
    "a name of the library's for a helper": (
        "softmax",
        "def sigmoid(z):\n    e = np.exp(z - z.max())\n    return e\ndef softmax(z):\n    e = sigmoid(z)\n    return e / e.sum()",
    ),
    "a helper of the library": (
        "smoothed-cross-entropy",
        "from course_lib import serial\ndef smoothed_cross_entropy(z, c, smooth):\n"
        "    s = z - z.max()\n    serial.relu(s)\n    s = s - np.log(np.exp(s).sum())\n"
        "    return -((1 - smooth) * s[c] + smooth * s.mean())",
    ),
    "leans on another task's": (
        "smoothed-cross-entropy",
        "from course_lib import serial\ndef smoothed_cross_entropy(z, c, smooth):\n    s = z - z.max()\n"
        "    serial.softmax(s[None])\n    s = s - np.log(np.exp(s).sum())\n"
        "    return -((1 - smooth) * s[c] + smooth * s.mean())",
    ),
}
