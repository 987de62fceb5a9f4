"""Does something that a cell has left running strike later, in the time of another's cell or check?

A thread, a timer or a process that ends the kernel would else cost whichever task stands there when it strikes. So the
cells up to the suspect's run in a new session of their own, where nothing else happens, for as long as it took.
"""

import time

from course_tools.grading.verdict.session import Session, SessionLost

SPARE = 1.0  # seconds beyond those that it took the first time
STEP = 0.1
SAID = (
    "something its cell left running (a thread, a timer, a process) ended the kernel later, in {}"
)


def later(fork_server, cells, age, seconds):
    """Is a session lost in which nothing but these cells runs? cells: [(name, text)].

    age: seconds from their end to the strike. seconds: the limit for a cell, and for the wait.
    """
    try:
        with Session(fork_server, 1) as session:
            for _, text in cells:
                session.run(text, seconds)
            end = time.monotonic() + min(age + SPARE, seconds)
            while time.monotonic() < end:
                session.run("", seconds)  # also what only looks alive is found out
                time.sleep(STEP)
    except SessionLost:
        return True
    return False
