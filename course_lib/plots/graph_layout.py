"""Where the boxes of a computation graph stand: in columns, with arrows that go around boxes."""

from collections.abc import Mapping
from itertools import pairwise

from course_lib.errors import BadInput
from course_lib.plots.line_charts import apart

Edge = tuple[str, str]
Place = tuple[float, float]


def columns_of(names: list[str], edges: list[Edge]) -> dict[str, int]:
    """Each node's column: one to the right of its last input; inputs stand just before whoever uses them first."""
    column = dict.fromkeys(names, 0)
    for _ in names:
        for a, b in edges:
            column[b] = max(column[b], column[a] + 1)
    if max(column.values()) >= len(names):
        raise BadInput("the edges go in a circle: a computation graph only goes forward")
    for name in names:
        users = [column[b] for a, b in edges if a == name]
        if users and name not in {b for _, b in edges}:
            column[name] = min(users) - 1
    return column


def layout(names, edges, column):
    """(place of each node, stops of each edge, rows needed), in columns and rows, y upwards.

    An edge that passes over columns gets a stop in each, which takes part in the layout like a node. Each thing
    wishes to stand in the middle of its neighbours; those of one column are kept one row apart.
    """
    chains, place_in = {}, dict(column)
    for a, b in edges:
        between = range(column[a] + 1, column[b])
        chains[a, b] = [f"{(a, b)}#{c}" for c in between]
        place_in |= dict(zip(chains[a, b], between, strict=True))
    near: dict[str, list[str]] = {thing: [] for thing in place_in}
    for (a, b), stops in chains.items():
        for left, right in pairwise([a, *stops, b]):
            near[left].append(right)
            near[right].append(left)
    height = _settle(place_in, near)
    middle = (max(height.values()) + min(height.values())) / 2
    at = {thing: (float(place_in[thing]), height[thing] - middle) for thing in place_in}
    routes = {edge: [at[stop] for stop in stops] for edge, stops in chains.items()}
    rows = max(height.values()) - min(height.values()) + 1
    return {name: at[name] for name in names}, routes, rows


def branch(names, edges, column):
    """As `layout`, for a chain with leaves: what nothing waits for stands a row lower. Other graphs go to `layout`."""
    at = {n: (float(column[n]), 0.5 if any(n == a for a, _ in edges) else -0.5) for n in names}
    fits = len(set(at.values())) == len(at) and all(column[b] == column[a] + 1 for a, b in edges)
    return (at, dict.fromkeys(edges, ()), 2.0) if fits else layout(names, edges, column)


def _settle(column: Mapping[str, int], near: Mapping[str, list[str]]) -> dict[str, float]:
    """Heights after sweeps to the right and back, in which each column follows its neighbours' heights."""
    stacks = [[t for t in column if column[t] == c] for c in range(max(column.values()) + 1)]
    height = {t: (len(stack) - 1) / 2 - i for stack in stacks for i, t in enumerate(stack)}
    for _ in range(12):
        for stack in [*stacks, *reversed(stacks)]:
            beside = [[height[n] for n in near[t]] or [height[t]] for t in stack]
            wishes = [sum(heights) / len(heights) for heights in beside]
            # of equal wishes the first on top
            height.update(zip(stack[::-1], apart(wishes[::-1], 1.0), strict=True))
    return height
