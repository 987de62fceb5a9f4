"""A stepper: a recorded run as frames that can be walked through, each a picture with a sentence."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.errors import BadInput
from course_lib.plots.stepper.page import html_of
from course_lib.plots.stepper.shapes import Shape
from course_lib.plots.stepper.svg import svg_of

MOST_BYTES = (
    200_000  # of a stepper's data: a notebook with some of them is still opened in a moment
)


@dataclass(frozen=True)
class Frame:
    """says: one sentence, which is also read aloud. shapes: of shapes.py. name: in place of its number ("k = 3")."""

    says: str
    shapes: list[Shape]
    name: str = ""


class Stepper:
    """A run that can be walked through: shown by a notebook with buttons, a slider and the arrow keys.

    title: one sentence. frames: the run, in order. size: (width, height) of the picture in points; 480 wide fits a
    phone. telling: the frame that stands for all where nothing can move, on paper or without scripts.
    Raises BadInput for no frames, and for more data than 200 kB.
    """

    def __init__(
        self, title: str, frames: Sequence[Frame], size: tuple[float, float], telling: int = -1
    ):
        if not frames:
            raise BadInput(f"{title}: no frames: there is nothing to step through")
        self.title, self.frames, self.size = title, list(frames), size
        self.telling = range(len(self.frames))[telling]
        self.data = self._data()
        if len(self.data) > MOST_BYTES:
            too_many = f"{len(self.frames)} frames are {len(self.data):,} bytes of data"
            raise BadInput(f"{too_many}, over {MOST_BYTES:,}: record a smaller run")

    @property
    def last(self) -> Frame:
        """The frame in which the run has ended."""
        return self.frames[-1]

    @property
    def alt(self) -> str:
        """What is to be seen where nothing moves."""
        return f"{self.title}. {self.frames[self.telling].says}"

    def _data(self) -> str:
        """JSON: each shape once, and for each frame its sentence and which shapes it shows, by their numbers."""
        numbers: dict[str, int] = {}
        frames: list[dict[str, Any]] = []
        for frame in self.frames:
            texts = [json.dumps(shape, ensure_ascii=False) for shape in frame.shapes]
            shown = [numbers.setdefault(text, len(numbers)) for text in texts]
            name = {"name": frame.name} if frame.name else {}
            frames.append({"says": frame.says, **name, "shows": shown})
        rest = {"title": self.title, "size": self.size, "telling": self.telling, "frames": frames}
        head = json.dumps(rest, ensure_ascii=False)
        return f'{head[:-1]}, "shapes": [{", ".join(numbers)}]}}'

    def svg(self, number: int | None = None) -> str:
        """One frame as SVG on white ground; the telling one unless a number is given."""
        frame = self.frames[self.telling if number is None else number]
        return svg_of(frame.shapes, self.size, f"{self.title}. {frame.says}")

    def html(self) -> str:
        """What a notebook shows: the telling frame, all sentences folded, and the data with their script."""
        says = [f.says if f.says.startswith(f.name) else f"{f.name}: {f.says}" for f in self.frames]
        return html_of(self.title, self.alt, self.svg(), says, self.data, self.size)

    def __repr__(self) -> str:
        steps = [f"{n}. {frame.says}" for n, frame in enumerate(self.frames, 1)]
        return "\n".join([self.title, *steps])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}
