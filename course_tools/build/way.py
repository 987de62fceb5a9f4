"""The way through the course: what stands under a notebook's title, and where it leads at its end."""

import re

from course_tools.build import minutes
from course_tools.doctor.chapters import CHAPTERS
from course_tools.text import count

RUNS_ON = {
    "cpu": "any laptop",
    "threads": "any laptop; two cores or more for a gain to show",
    "gpu": "a GPU or, without one, the CPU engine that comes with the course",
    "mpi": "any laptop, with the MPI that came with the packages",
    "all": "any laptop; what it lacks is left out, and said",
}
PART = {f"{number}-{name}": part for number, name, part in CHAPTERS}
# Said by the opening now, in fewer words
SAID = re.compile(
    r"Each section: a question, your prediction, a run, a check \(an `assert`\), "
    r"one sentence to take away\.( Commit to a prediction [^.]*\.)? ?"
    r"|(?:It|This chapter) takes about \d+ minutes(?:; a good place for a break [^.]*)?\. ?"
)
BREAK = re.compile(r"a good place for a break is the end of section (\d+)")
TAKE_AWAY = re.compile(r"^\*\*Take away\.\*\* (.*)$", re.MULTILINE)
PROGRESS = "**So far:** [your progress](../progress.ipynb)"
SUMMED_UP = re.compile(r"^## (Key points|What you now know)", re.MULTILINE)


def opened(text, read, around):
    """The first text of a notebook with its opening under the title, and without what the opening says."""
    title = re.search(r"^# .*$", text, re.MULTILINE)
    if not title:
        return text
    rest = SAID.sub("", text[title.end() :])
    rest = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+$", "", rest, flags=re.MULTILINE))
    return f"{text[: title.end()]}\n\n{opening(text, read, around)}\n\n{rest.strip()}".rstrip()


def opening(text, read, around):
    """What you will be able to do, how long it takes, what it needs: three lines of a list."""
    rows = {"You will be able to": read.able} if read.able else {}
    rows["Time"] = _time(text, read)
    rows["Needs"] = _needs(read, around)
    return "\n".join(f"- **{name}{_colon(name)}** {words}" for name, words in rows.items())


def unopened(text):
    """The first text of a notebook without its opening: the book has a list of its own."""
    return re.sub(
        r"^- \*\*(You will be able to\*\*|Time:\*\*|Needs:\*\*).*\n",
        "",
        text,
        count=0,
        flags=re.MULTILINE,
    )


def _colon(name):
    return "" if name.startswith("You") else ":"


def _time(text, read):
    tasks = [cell.task for cell in read.tasks]
    if tasks:
        points = count(sum(task.points for task in tasks), "point")
        return f"about {read.minutes} minutes for {count(len(tasks), 'task')}, {points}"
    pause = BREAK.search(text)
    where = f"; a good break is after section {pause[1]}" if pause else ""
    core = minutes.core(read)
    if core < read.minutes:
        return f"about {core} minutes, {read.minutes} with the folded sections{where}"
    return f"about {read.minutes} minutes{where}"


def _needs(read, around):
    number = read.chapter[:2]
    before = earlier(number, around) if read.kind == "lecture" else [number]
    to_read = [
        f"[chapter {n}]({around[n].page('lecture', read.kind)})" for n in before if n in around
    ]
    return " · ".join([*to_read, RUNS_ON[PART.get(read.chapter, "cpu")]])


def earlier(number, around):
    """The chapter to have read: the one before; where a new part begins the last of the first part."""
    parts = {n: PART.get(there.name, "cpu") for n, there in around.items()}
    before = [n for n in parts if n < number]
    same = [n for n in before if parts[n] == parts.get(number)]
    if parts.get(number) == "all":
        return before[-1:]
    return (same or [n for n in before if parts[n] == "cpu"])[-1:]


# The end ------------------------------------------------------------------------------------------


def closing(read, kind, around):
    """The last text of a notebook: a lecture's key points, and links back and onward."""
    links = " · ".join(onward(read.chapter[:2], kind, around))
    points = key_points(read) if kind == "lecture" else []
    listed = "\n".join(f"- {point}" for point in points)
    return "\n\n".join(part for part in (points and "## Key points", listed, links) if part)


def key_points(read):
    """The sentences to take away, of all sections but the deeper ones; none where the author has summed up."""
    texts = [cell.source for cell in read.cells if cell.kind == "markdown" and not cell.deep]
    if SUMMED_UP.search("\n".join(texts)):
        return []
    return [point for text in texts for point in TAKE_AWAY.findall(text)]


def onward(number, kind, around):
    """Links: back, to the exercise, to the next lecture."""
    numbers = list(around)
    at = numbers.index(number)
    before = around[numbers[at - 1]] if at else None
    after = around[numbers[at + 1]] if at + 1 < len(numbers) else None
    here, links = around[number], []
    if kind != "lecture":
        links.append(f"**Back:** [the lecture]({here.page('lecture', kind)})")
    elif before:
        links.append(f"**Back:** [{before.number} {before.title}]({before.page('lecture', kind)})")
    if kind != "exercise" and here.has_exercise:
        words = "your own attempt" if kind == "solution" else "the exercise of this chapter"
        links.append(f"**Now you:** [{words}]({here.page('exercise', kind)})")
    if kind == "exercise":
        links.append(PROGRESS)
    if after:
        links.append(f"**Next:** [{after.number} {after.title}]({after.page('lecture', kind)})")
    return links
