"""What the compiler says of a kernel, told at the lines of its source and never at those of the engine's headers."""

import re

# kernel.cu:3:9: error: ...    kernel.cu: In function ...    In file included from kernel.cu:1:
ROW = re.compile(r"(In file included from|\s+from)?\s*([^:|]+)((?::\d+)*)[:,]\s*(.*)")


def complaints(said):
    """The lines worth showing of what g++ or clang++ said: one error for each line of the source, and its notes.

    An error in a header is told at the place that led there: g++ names it before the error, clang++ in a note after it.
    """
    rows, kept, told = [("", "", "", "")], list[str](), set()
    for line in said.splitlines():
        rows.append(_parse(line, rows[-1][1]))
    errors = [at for at, row in enumerate(rows) if row[0] == "error"]
    for last, at, end in zip([0, *errors], errors, [*errors[1:], len(rows)], strict=False):
        _, place, text, _ = rows[at]
        before = [row for row in rows[last:at] if row[0] in ("context", "included")]
        notes = [row for row in rows[at + 1 : end] if row[0] in ("note", "piece") and row[1]]
        context = [row for row in before if row[0] == "context" and row[1]]
        lines = [row[3] for row in (*context, rows[at], *notes)]
        if not place:
            # the line that includes the header says least: it is the last resort
            led = [row[1] for row in context if ":" in row[1]][-1:]
            included = [row[1] for row in before if ":" in row[1]][-1:]
            place = [*led, *(row[1] for row in notes), *included, ""][0]
            lines = [f"{place}: {text}" if place else text]
        if place.rsplit(":", 1)[0] not in told and (place or not kept):
            kept += lines
            told.add(place.rsplit(":", 1)[0])
    return "\n".join((kept or said.splitlines())[:40]).replace("course::", "")


def _parse(line, place):
    """(kind, place, text, line). A source has a plain name; a header, or what is put around a source, a path: no place.

    place: of the line before, under which a piece of the source may stand.
    """
    found = ROW.match(line)
    if not found:
        return "piece", place if line.startswith(" ") and "COURSE_" not in line else "", line, line
    included, file, at, text = found.groups()
    kind = "note" if text.startswith(("note:", "warning:")) else "context"
    kind = "included" if included else kind
    if "undefined reference" in text or re.match(r"(fatal )?error:", text):
        kind = "error"
    return kind, "" if re.search(r"[/<]", file) else file + at, text, line
