"""The picture of the packages as SVG, readable on a light and on a dark page.

Where a box stands is written down here, since a picture for readers is laid out by a reader: a package without a place
is refused with one message. The arrows come from the imports.
"""

from collections import defaultdict
from html import escape

from course_lib.errors import BadInput

# package -> (column, row, width in columns); the column is that of its left edge
LIBRARY = {
    "checks/chNN": (2, 1, 3),
    "plots": (0, 1, 1),
    "progress": (5, 2, 1),
    "checks/kit": (2, 2, 1),
    "threads": (1, 3, 1),
    "gpu": (2, 3, 1),
    "mpi": (3, 3, 1),
    "serial": (2, 4, 1),
    "data": (2, 5, 1),
    "machines/pycuda_names": (3, 4, 1),
    "machines/cpu_engine": (3, 5, 1),
    "machines/rehearsal": (4, 4, 1),
    "machines/ranks": (5, 4, 1),
    "machines/cuda_c": (3, 6, 1),
    "machines/trace_page": (4, 6, 1),
    "machines/books": (4, 5, 1),
    "measure": (0, 7, 6),
}
TOOLS = {
    "bench": (6.4, 1, 1),
    "book": (7.4, 1, 1),
    "grading": (8.4, 1, 1),
    "doctor": (6.4, 4, 1),
    "build": (8.4, 3, 1),
    "notebooks": (8.4, 4, 1),
    "maintenance": (6.4, 3, 1),
    "trace": (7.4, 3, 1),
    "report": (7.4, 2, 1),
}
PLACES = {
    "chapters": (0, 0, 9.4),
    **{f"course_lib/{name}": place for name, place in LIBRARY.items()},
    **{f"course_tools/{name}": place for name, place in TOOLS.items()},
}
# around the boxes: (name, column, row, columns, rows, is the name above them?)
FRAMES = [
    ("course_lib", 0, 1, 6, 7, True),
    ("machines", 3, 4, 3, 3, False),
    ("course_tools", 6.4, 1, 3, 4, True),
]
COLUMN, ROW, BOX_HEIGHT, GAP, MARGIN, HEAD = 116, 104, 58, 14, 20, 24
STYLE = """
  svg { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
  .page { fill: #ffffff } .frame { fill: #f3f5f8; stroke: #c4cbd4 } .box { fill: #ffffff; stroke: #57606a }
  .name { font-weight: 600; font-size: 12px; fill: #1f2328 } .numbers { font-size: 12px; fill: #57606a }
  .label { font-size: 13px; fill: #57606a } .arrow { fill: none; stroke: #0969da; stroke-width: 1.5 }
  .head { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .frame { fill: #161b22; stroke: #3d444d } .box { fill: #0d1117; stroke: #9198a1 }
    .name { fill: #f0f6fc } .numbers, .label { fill: #9198a1 } .arrow { stroke: #6cb6ff } .head { fill: #6cb6ff }
  }
"""


def draw(packages, arrows):
    """The SVG, a string. packages: {name: an object with `files`, `lines`}; arrows: {(from, to)}."""
    homeless = sorted(set(packages) - set(PLACES))
    if homeless:
        raise BadInput(
            f"no place in the picture for {', '.join(homeless)}: "
            "give it one in course_tools/maintenance/architecture_svg.py"
        )
    parts = [_frame(*frame) for frame in FRAMES]
    parts += [_box(name, packages[name]) for name in PLACES if name in packages]
    between = sorted(arrow for arrow in arrows if set(arrow) <= set(packages))
    parts += [_path(arrow, curve) for arrow, curve in zip(between, _curves(between), strict=True)]
    parts += [_path(arrow, _across()) for arrow in sorted(arrows - set(between))]
    width, height = 9.4 * COLUMN - GAP + 2 * MARGIN, 7 * ROW + BOX_HEIGHT + HEAD + 2 * MARGIN
    return _document(width, height, parts)


def _document(width, height, parts):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">\n'
        "<title>The packages of the course and who imports whom</title>\n"
        f"<style>{STYLE}</style>\n"
        '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="head" d="M0 1L10 5L0 9z"/></marker>\n'
        '<rect class="page" width="100%" height="100%"/>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def _rectangle(name):
    """x, y, width, height of a box in pixels."""
    column, row, columns = PLACES[name]
    down = HEAD if row else 0  # room for the frames' names
    return MARGIN + column * COLUMN, MARGIN + row * ROW + down, columns * COLUMN - GAP, BOX_HEIGHT


def _frame(name, column, row, columns, rows, above):
    around = 12 if above else 5
    x, y = MARGIN + column * COLUMN - around, MARGIN + row * ROW + HEAD - around - 17 * above
    width = columns * COLUMN - GAP + 2 * around
    height = (rows - 1) * ROW + BOX_HEIGHT + 2 * around + 17
    side, down = (
        (f'x="{x + width - 8:g}" text-anchor="end"', 17)
        if above
        else (f'x="{x + 8:g}"', height - 6)
    )
    return (
        f'<rect class="frame" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8"/>'
        f'<text class="label" {side} y="{y + down:g}">{name}</text>'
    )


def _box(name, package):
    x, y, width, height = _rectangle(name)
    middle, label = f'x="{x + width / 2:g}" text-anchor="middle"', escape(name.split("/", 1)[-1])
    return (
        f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height}" rx="6"/>'
        f'<text class="name" {middle} y="{y + 19:g}">{label.removeprefix("machines/")}</text>'
        f'<text class="numbers" {middle} y="{y + 35:g}">{package.files} files</text>'
        f'<text class="numbers" {middle} y="{y + 50:g}">{round(package.lines, -2):,} lines</text>'
    )


def _path(arrow, curve):
    title = f"<title>{arrow[0]} imports {arrow[1]}</title>"
    return f'<path class="arrow" d="{curve}" marker-end="url(#head)">{title}</path>'


def _across():
    """From the frame of course_tools to that of course_lib."""
    y, right, left = MARGIN + 2.7 * ROW, 6.4 * COLUMN - 12, 6 * COLUMN - GAP + 12
    return f"M{MARGIN + right:g} {y:g}L{MARGIN + left:g} {y:g}"


def _curves(arrows):
    """The path of each arrow: aside in the gap below its box, then straight down to the other."""
    starts, ends = _ends(arrows, 0), _ends(arrows, 1)
    for arrow in arrows:
        x, y = starts[arrow], _rectangle(arrow[0])[1] + BOX_HEIGHT
        to_x, to_y = ends[arrow], _rectangle(arrow[1])[1]
        aside = min(y + ROW - BOX_HEIGHT, to_y) - 12  # an arrow's head points straight down
        bend = (aside - y) / 2
        yield f"M{x:g} {y:g}C{x:g} {y + bend:g} {to_x:g} {aside - bend:g} {to_x:g} {aside:g}V{to_y:g}"


def _ends(arrows, side):
    """{arrow: x} of the arrows' starts (side 0) or ends (1), spread along a box in the order of where they lead."""
    at = defaultdict(list)
    for arrow in arrows:
        at[arrow[side]].append(arrow)
    found = {}
    for name, there in at.items():
        x, _, width, _ = _rectangle(name)
        facing = {arrow: _facing(name, arrow[1 - side]) for arrow in there}
        for number, arrow in enumerate(sorted(there, key=facing.__getitem__), 1):
            wide = width > _rectangle(arrow[1 - side])[2]
            found[arrow] = facing[arrow] if wide else x + width * number / (len(there) + 1)
            found[arrow] = min(max(found[arrow], x + 12), x + width - 12)
    return found


def _facing(name, other):
    """The x of the point of the box `other` that is nearest to the middle of the box `name`."""
    x, _, width, _ = _rectangle(other)
    own, _, breadth, _ = _rectangle(name)
    if breadth > width:
        return x + width / 2
    return min(max(own + breadth / 2, x), x + width)
