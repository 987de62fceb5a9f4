"""`course bench grade`: what grading costs, beside plain nbval and nbgrader on the same submissions.

command.py     options and files
measuring.py   runs it all; its dict is the JSON
course.py      the release and the made-up class, by the course's own commands
ours.py        `course grade`: as it comes, one at a time, for memory, and killed in the middle
cells.py       what the cells of a notebook take in plain IPython (a process of its own)
rivals.py      nbval and nbgrader; assignment.py makes nbgrader's notebooks
watching.py    a command's seconds, and the memory of all its processes
targets.py, tables.py, docs.py     met or not; what is shown and written
"""
