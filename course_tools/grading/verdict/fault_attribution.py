"""Does something that a cell has left running strike later, in the time of another's cell or check?

A thread, a timer or a process that ends the kernel would else cost whichever task stands there when it strikes. So the
cells up to the suspect's run in new rooms of their own, where nothing else happens, for as long as it took.
"""

import time

from course_tools.grading.verdict.session import Lost, Rooms

SPARE = 1.0  # seconds beyond those that it took the first time
STEP = 0.1
SAID = "what its cell left running (a thread, a timer, a process) ended the kernel later, in {}"


def later(zygote, cells, age, seconds):
    """Are rooms lost in which nothing but these cells runs? cells: [(name, text)].

    age: seconds from their end to the strike. seconds: the limit for a cell, and for the wait.
    """
    try:
        with Rooms(zygote, 1) as rooms:
            for _, text in cells:
                rooms.run(text, seconds)
            end = time.monotonic() + min(age + SPARE, seconds)
            while time.monotonic() < end:
                rooms.run("", seconds)  # also what only looks alive is found out
                time.sleep(STEP)
    except Lost:
        return True
    return False
