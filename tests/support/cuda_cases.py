"""Cells of Python with one string, and whether that string is a kernel: for the book's lexer and JupyterLab's colours.

`float` stands once in each: in a kernel it is a keyword, elsewhere it has the string's colour.
"""

CASES = {
    "global": ('s = """\n__global__ void f(float *x) {}\n"""\n', True),
    "raw": ('s = r"""\n__global__ void f(float *x) {}\n"""\n', True),
    "single quotes": ("s = '''\n__device__ float f();\n'''\n", True),
    "marked": ('s = """// CUDA\nfloat x;\n"""\n', True),
    "marked, a line down": ('s = """\n  // CUDA: half a kernel\n  float x;\n"""\n', True),
    "shared alone": ('s = """__shared__ float s[32];"""\n', True),
    "indented": (
        'def f():\n    return """\n        __global__ void f(float *x)\n        {\n        }\n    """\n',
        True,
    ),
    "in brackets": ('run(["a", """__global__ void f(float *x) {}""", 1])\n', True),
    "after another string": ('s = ("""a""" """__global__ void f(float *x) {}""")\n', True),
    "placeholder": ('s = """__global__ void f(float *x) { {name} }"""\n', True),
    "f-string": ('s = f"""__global__ void f(float *x) {{ x[{n}] = {n:>{w}}; }}"""\n', True),
    "f-string, a string in its field": (
        's = f"""__global__ void f(float *x) {{ x[{d["k"]!r}]; }}"""\n',
        True,
    ),
    "bytes": ('s = rb"""__global__ void f(float *x) {}"""\n', True),
    "unclosed": ('s = """__global__ void f(float *x', True),
    "short": ('s = "__global__ void f(float *x) {}"\n', False),
    "no mark": ('s = """void f(float *x) {}"""\n', False),
    "marked too late": ('s = """float x;\n// CUDA\n"""\n', False),
    "docstring": ('def f():\n    """Returns a float."""\n', False),
    "mark in a field": ('s = f"""float {__global__}"""\n', False),
}
