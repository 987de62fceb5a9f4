"""Pictures for the class, as all figures of the course are drawn: points by task, the mistakes most made."""

from course_lib import plots
from course_tools.grading.marks import mistakes

MOST = 12  # mistakes in a picture


def figures(marks, root=None):
    """[Figure]: two a chapter, or one where nobody made a mistake."""
    made = []
    planted = mistakes.planted(marks.columns, root)
    for chapter in marks.columns:
        made += [points(marks, chapter), *common(marks, chapter, planted.get(chapter, {}))]
    return made


def points(marks, chapter):
    """A bar a task: the average share of its points, in percent of full points, of those who handed in."""
    given = [student.chapters[chapter] for student in marks.students if chapter in student.chapters]
    shares = {}
    for name in marks.columns[chapter]:
        tasks = [task for one in given for task in one.tasks if task.task == name]
        earned, out_of = sum(task.points for task in tasks), sum(task.out_of for task in tasks)
        shares[name] = round(100 * earned / out_of, 1) if out_of else 0.0
    title = f"{chapter}: points by task, {len(given)} submissions"
    return plots.bars(shares, xlabel="average share of the points, percent", title=title, end=100)


def common(marks, chapter, planted):
    """[] or one Figure: how many submissions made the mistakes most made."""
    counts = mistakes.counted(marks, chapter, planted).most_common()
    counts.sort(key=lambda pair: (-pair[1], pair[0]))
    if not counts:
        return []
    bars = {f"{task}: {mistake}": count for (task, mistake), count in counts[:MOST]}
    title = f"{chapter}: the mistakes most made"
    return [plots.bars(bars, xlabel="submissions", title=title)]
