"""`course report [NN] [TASK]`: the check that was run last, or the one of a task, as one Markdown text."""

import re
import sys
from pathlib import Path

from course_lib.errors import BadInput, check_count
from course_lib.progress import verdicts
from course_tools.build.files import add_root, clone, write
from course_tools.notebooks.kernels import DEFAULT_SEED
from course_tools.report import again, text

NOTHING = (
    "no check of yours is kept on this machine. Run the check in JupyterLab first, or save the exercise and name "
    "the task: course report 01 neuron"
)


def add_arguments(parser):
    """The arguments of `report`."""
    parser.description = (
        "A check misled you: it refused a right answer, accepted a wrong one, or named a cause that was not the "
        "cause. This prints a text to paste into a message: the task, what its check said, the seed, your cell of "
        "that task, versions, and whether the same happens again. Nothing is sent. Without a name it takes the check "
        "that you ran last."
    )
    words = "chapter and task, such as: neuron, or 01 neuron"
    parser.add_argument("what", nargs="*", metavar="NAME", help=words)
    words = "take the cell from the saved exercise, and try it with this seed"
    parser.add_argument("--seed", type=int, metavar="N", help=words)
    words = "write the text to this file instead of printing it"
    parser.add_argument("--out", type=Path, metavar="FILE", help=words)
    words = "seconds for a cell when the check is tried again (%(default)g)"
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help=words)
    add_root(parser)


def command(args):
    """Run `report`. Exit status: 0 there is a text, 2 the call is wrong."""
    if not args.timeout > 0:
        raise BadInput(f"--timeout must be more than 0 seconds, not {args.timeout:g}")
    root = clone(args.root)
    said, second = _verdicts(args, root)
    made = text.without_places(text.report(said, second, root), root)
    if args.out:
        write(args.out, made)
    else:
        print(made)
    where = f", in {args.out}" if args.out else ""
    print(text.notice(said["task"]) + where, file=sys.stderr)
    return 0


def _verdicts(args, root):
    """(the verdict to report, that of a second run with the same seed)."""
    chapter, task = _named(args.what)
    found = [one for one in verdicts.kept() if _fits(one, chapter, task)]
    if found and args.seed is None:
        said = found[-1]
        return said, again.run(root, said, args.timeout)
    if not task:
        raise BadInput(
            NOTHING if args.seed is None else "--seed needs a task: course report 01 neuron"
        )
    seed = int(DEFAULT_SEED) if args.seed is None else check_count("--seed", args.seed, low=0)
    asked = {"chapter": again.exercise_of(root, chapter, task), "task": task, "seed": seed}
    first = again.run(root, asked, args.timeout)
    if first.right is None:
        raise BadInput(f"the check of {task} could not be run: {first.message}")
    said = asked | {"right": first.right, "message": first.message, "source": first.source}
    return said, again.run(root, said, args.timeout)


def _named(words):
    """(chapter or "", task or "") of what was typed: [], ["neuron"], ["01", "neuron"], ["01"]."""
    chapters = [word for word in words if re.match(r"\d\d($|-)", word)]
    tasks = [word for word in words if word not in chapters]
    if len(chapters) > 1 or len(tasks) > 1:
        raise BadInput(f"one chapter and one task, please: course report 01 neuron, not {words}")
    task = tasks[0].removesuffix("-check").replace("_", "-") if tasks else ""
    return (chapters[0][:2] if chapters else ""), task


def _fits(one, chapter, task):
    return one["chapter"].startswith(chapter) and task in ("", one["task"])
