"""A tiny chapter for the tests of the builder: one lecture, one exercise with one task."""

import shutil
import textwrap
from pathlib import Path

HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  name: python3
  display_name: Python 3 (ipykernel)
course:
  title: A tiny chapter
  minutes: 5
---
"""

LECTURE = (
    HEADER
    + """
# A tiny chapter

```{code-cell} ipython3
:name: greet

print("hello")
```

Now two outputs.

```{code-cell} ipython3
:name: two
:tags: [nbval-ignore-output]

import os
print(os.getcwd())
6 * 7
```

The end.
"""
)

EXERCISE = (
    HEADER
    + '''
# Exercise

```{code-cell} ipython3
:name: setup

class CheckFailed(AssertionError):
    pass


def check_double(double):
    try:
        got = double(3)
    except NotImplementedError:
        raise CheckFailed("double is not written yet") from None
    if got is None:
        raise CheckFailed("it returned None")
    if got != 6:
        raise CheckFailed(f"got {got}, and the\\nlikely cause is a slip")
    print("right")
```

Write `double`.

```{code-cell} ipython3
---
name: double
tags: [task]
points: 2
difficulty: 1
minutes: 3
lines: 1
hints:
  - "a nudge"
  - "the idea"
  - "nearly the code"
mutants:
  - {name: adds, replace: "2 *", with: "2 +", expect: "Likely cause is a slip"}
  - {name: triples, replace: "2", with: "3", expect: "got 9"}
  - {name: nothing, body: "return None", expect: "returned None"}
  - {name: only-passes, body: "pass", expect: "returned none"}
  - name: two-lines
    body: |
      y = x
      return y
    expect: "got 3"
---
def double(x):
    """x: int. Returns 2 x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
```

```{code-cell} ipython3
:name: double-check
:tags: [check]
:checks: double

check_double(double)
```
'''
)

KERNEL = (
    HEADER
    + '''
# A kernel

```{code-cell} ipython3
:name: setup

def check_triple(source):
    if "#error" in source:
        raise AssertionError("triple is not written yet")
    if "y[i] = 3 * x[i];" not in source:
        raise AssertionError("got " + source.splitlines()[4].strip())
    print("right")
```

Write `triple`.

```{code-cell} ipython3
---
name: triple
tags: [task]
points: 1
difficulty: 1
minutes: 4
lines: 2
hints: ["a nudge", "the idea", "nearly the code"]
mutants:
  - {name: doubles, replace: "3 *", with: "2 *", expect: "y[i] = 2 * x[i];"}
  - {name: adds, replace: "3 *", with: "3 +", expect: "y[i] = 3 + x[i];"}
  - {name: quoted, replace: "3 *", with: "'3' *", expect: "y[i] = '3' * x[i];"}
  - {name: nothing, body: "(void)x;", expect: "got }"}
  - name: two-lines
    body: |
      if (x)
          y[0] = x[0];
    expect: "got y[0] = x[0];"
---
TRIPLE = r"""
__global__ void triple(const float *x, float *y)
{
    ### BEGIN SOLUTION
    int i = threadIdx.x;
    y[i] = 3 * x[i];
    ### END SOLUTION
}
"""
```

```{code-cell} ipython3
:name: triple-check
:tags: [check]
:checks: triple

check_triple(TRIPLE)
```
'''
)


def clone(folder, lecture=LECTURE, exercise=EXERCISE, chapter="01-tiny"):
    """Write the chapter into a clone at `folder`; return the folder."""
    home = Path(folder) / "chapters" / chapter
    home.mkdir(parents=True, exist_ok=True)
    if lecture is not None:
        (home / "lecture.md").write_text(lecture, encoding="utf-8")
    if exercise is not None:
        (home / "exercise.md").write_text(exercise, encoding="utf-8")
    return Path(folder)


def copy(built, folder):
    """A copy of a clone that was built once for all tests."""
    return Path(shutil.copytree(built, folder, dirs_exist_ok=True))


def notebook(path, *cells):
    """Write a notebook of code cells, each a text or a dict with source, outputs, count and tags."""
    from nbformat import write
    from nbformat.v4 import new_code_cell, new_notebook

    made = []
    for number, cell in enumerate(cells, 1):
        cell = {"source": cell} if isinstance(cell, str) else cell
        tags = {"tags": cell["tags"]} if "tags" in cell else {}
        made.append(
            new_code_cell(
                textwrap.dedent(cell["source"]).strip(),
                id=cell.get("id", f"cell-{number}"),
                metadata=tags,
                outputs=cell.get("outputs", []),
                execution_count=cell.get("count", number),
            )
        )
    write(
        new_notebook(
            cells=made, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        ),
        path,
    )
    return path
