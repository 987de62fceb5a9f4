"""What became of the claims. A claim names a function here as "module.function".

The module is named after the part of the result that its functions get; those of run.py get the whole result. Options
are keyword-only parameters. A function returns a text, our number with its unit, or raises NotMeasured.
"""

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from course_lib.errors import BadInput
from course_tools.bench.papers.claim import NotMeasured, Result
from course_tools.bench.papers.settings import PARTS

WHOLE = "run"


def finder(where: str, name: str, options: dict[str, Any]) -> Callable[[Result], str]:
    """The function of that name with these options. Raises BadInput, which begins with `where`, if it does not fit."""
    module, _, function = name.partition(".")
    home = import_module(f"{__name__}.{module}") if module in (*PARTS, WHOLE) else None
    tell = getattr(home, function, None)
    if not inspect.isfunction(tell) or tell.__module__ != f"{__name__}.{module}":
        raise BadInput(f"{where}: findings/ has no function {name}")
    parameters = inspect.signature(tell).parameters.values()
    wanted = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    needed = {name for name, default in wanted.items() if default is inspect.Parameter.empty}
    if not needed <= options.keys() <= wanted.keys():
        raise BadInput(f"{where}: {name} takes {list(wanted)}, not {list(options)}")
    return partial(_find, partial(tell, **options), module)


def _find(tell: Callable[[dict[str, Any]], str], module: str, result: Result) -> str:
    if module == WHOLE:
        return tell(result)
    made = result["parts"].get(module)
    if made is None:
        raise NotMeasured(f"the part `{module}` was left out of this run")
    if "error" in made:
        raise NotMeasured(made["error"].removeprefix("not measured: "))
    return tell(made)
