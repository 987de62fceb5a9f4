"""How long a page takes, what it needs and what to read before: a list under the title of each page."""

import re

from course_tools.build.minutes import core
from course_tools.doctor.chapters import CHAPTERS
from course_tools.text import count

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
    "mpi": ["10-mpi-collectives"], "cluster": ["mpi"], "papers": ["00-start-here"],
    "bench-mpi": ["11-mpi-data-parallelism", "13-pipelines-and-shards"],
}  # fmt: skip


# What is to be known for a room of the library; for the others it is chapter 01.
ROOMS = {
    "threads": "03-thread-data-parallelism",
    "gpu": "05-gpu-first-kernels",
    "mpi": "10-mpi-collectives",
}
DOING = {
    "lecture": "to read and run",
    "exercise": "to solve",
    "solution": "to solve first, then to compare",
}
PART = {f"{number}-{name}": part for number, name, part in CHAPTERS}


def before(chapter):
    """The chapters to read before this one: the one before it, or the last of 00 to 02 where a new part begins."""
    if chapter not in PART:
        return []
    names = list(PART)
    earlier, part = names[: names.index(chapter)], PART[chapter]
    if part == "all":
        return earlier
    of_part = [name for name in earlier if PART[name] == part]
    return (of_part or [name for name in earlier if PART[name] == "cpu"])[-1:]


def of_notebook(kind, one, others):
    """The list for a lecture, exercise or solution. others: the pages of the same chapter, {words: link}."""
    chapter = one.chapter
    links = [_link(name) for name in (before(chapter) if kind == "lecture" else [chapter])]
    if kind == "solution":
        links.append(f"[your own attempt](../exercises/{chapter}.ipynb)")
    needs = NEEDS[PART.get(chapter, "cpu")]
    also = " · ".join(f"[{words}]({link})" for words, link in others.items())
    shorter, all_of_it = core(one), f"{one.minutes} minutes {DOING[kind]}"
    folded = f"about {shorter} minutes, with what is folded {all_of_it}"
    time = folded if shorter < one.minutes else f"about {all_of_it}"
    return _listed(time, needs, links, also, one.able if kind == "lecture" else "")


def of_document(name, text):
    """The list for a page that is only read."""
    minutes = max(1, round(len(re.findall(r"\w+", text)) / WORDS_A_MINUTE))
    read = DOCUMENTS.get(name, [])
    links = [_link(other) if other in PART else f"[{other}]({other}.md)" for other in read]
    return _listed(f"about {count(minutes, 'minute')} to read", "nothing but this page", links)


def of_library(room):
    """The list for a page of the library."""
    chapter = ROOMS.get(room.partition(".")[0], "01-serial-backprop")
    return _listed("to look things up", "NumPy to import it", [_link(chapter)])


def under_title(text, facts):
    """The Markdown text with the list after its first heading, which is its title."""
    found = re.search(r"^# .*$", text, re.MULTILINE)
    end = found.end() if found else 0
    return f"{text[:end]}\n\n{facts}\n{text[end:]}"


def _link(chapter):
    return f"[chapter {chapter[:2]}](../notebooks/{chapter}.ipynb)"


def _listed(time, needs, links, also="", able=""):
    """The list as Markdown. links: to what is to be read before; also: to what belongs to it."""
    read = f"{links[0]} to {links[-1]}" if len(links) > 3 else " and ".join(links) or "nothing"
    rows = {"Time": time, "Needs": needs, "Read before": read, "Also": also}
    lines = [f"- **You will be able to** {able}"] if able else []
    lines += [f"- **{name}:** {text}" for name, text in rows.items() if text]
    return "\n".join(["```{container} facts", *lines, "```", ""])
