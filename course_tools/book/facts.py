"""How long a page takes, what it needs and what to read before: a list under the title of each page."""

import re

from course_tools.doctor.chapters import CHAPTERS

WORDS_A_MINUTE = 200
NEEDS = {
    "cpu": "the course's environment on any laptop: no GPU, compiler or MPI",
    "threads": "the course's environment; two cores or more for a gain to show",
    "gpu": "the course's environment; a GPU or, without one, the CPU engine in the box",
    "mpi": "the course's environment with the MPI that pip installed; no cluster",
    "all": "what the chapters before it need; what your machine lacks is left out and said",
}
# What to have read before a document: names of chapters or of other documents. The others stand on their own.
DOCUMENTS = {
    "bench-threads": ["03-thread-data-parallelism"], "gpu": ["install"], "bench-gpu": ["08-gemm-register-tiled"],
    "mpi": ["10-mpi-collectives"], "cluster": ["mpi"], "bench-mpi": ["11-mpi-data-parallelism"],
    "papers": ["00-start-here"],
}  # fmt: skip


def before(chapter):
    """The chapters to read before this one: the one before it, or the last of 00 to 02 where a new part begins."""
    names = [f"{number}-{name}" for number, name, _ in CHAPTERS]
    parts = {f"{number}-{name}": part for number, name, part in CHAPTERS}
    if chapter not in parts:
        return []
    earlier, part = names[: names.index(chapter)], parts[chapter]
    if part == "all":
        return earlier
    of_part = [name for name in earlier if parts[name] == part]
    return (of_part or [name for name in earlier if parts[name] == "cpu"])[-1:]


def of_notebook(kind, chapter, minutes, others):
    """The list for a lecture, exercise or solution. others: the pages of the same chapter, {words: link}."""
    part = next((part for number, name, part in CHAPTERS if f"{number}-{name}" == chapter), "cpu")
    read = {"lecture": before(chapter)}.get(kind, [chapter])
    doing = {
        "lecture": "to read and run",
        "exercise": "to solve",
        "solution": "to solve first, then to compare",
    }[kind]
    links = [_link(name, "../notebooks") for name in read]
    if kind == "solution":
        links.append(f"[your own attempt](../exercises/{chapter}.ipynb)")
    rows = [
        ("Time", f"about {minutes} minutes {doing}"),
        ("Needs", NEEDS[part]),
        ("Read before", _joined(links)),
    ]
    if others:
        rows.append(("Also", " · ".join(f"[{words}]({link})" for words, link in others.items())))
    return _listed(rows)


def of_document(name, text):
    """The list for a page that is only read."""
    minutes = max(1, round(len(re.findall(r"\w+", text)) / WORDS_A_MINUTE))
    chapters = {f"{number}-{word}" for number, word, _ in CHAPTERS}
    links = [
        _link(n, "../notebooks") if n in chapters else f"[{n}]({n}.md)"
        for n in DOCUMENTS.get(name, [])
    ]
    time = f"about {minutes} minute{'s' if minutes > 1 else ''} to read"
    return _listed(
        [("Time", time), ("Needs", "nothing but this page"), ("Read before", _joined(links))]
    )


def of_library(room):
    """The list for a page of the library."""
    name, _, _ = room.partition(".")
    read = {
        "threads": "03-thread-data-parallelism",
        "gpu": "05-gpu-first-kernels",
        "mpi": "10-mpi-collectives",
    }
    links = [_link(read.get(name, "01-serial-backprop"), "../notebooks")]
    return _listed(
        [
            ("Time", "to look things up"),
            ("Needs", "NumPy to import it"),
            ("Read before", _joined(links)),
        ]
    )


def under_title(text, facts):
    """The Markdown text with the list after its first heading, which is its title."""
    found = re.search(r"^# .*$", text, re.MULTILINE)
    end = found.end() if found else 0
    return f"{text[:end]}\n\n{facts}\n{text[end:]}"


def _link(chapter, folder):
    return f"[chapter {chapter[:2]}]({folder}/{chapter}.ipynb)"


def _joined(links):
    if len(links) > 3:
        return f"{links[0]} to {links[-1]}"
    return " and ".join(links) or "nothing"


def _listed(rows):
    return "\n".join(
        ["```{container} facts", *(f"- **{name}:** {text}" for name, text in rows), "```", ""]
    )
