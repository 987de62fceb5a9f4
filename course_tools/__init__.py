"""What runs the course: grading today. It sees `course_lib`, which never sees it.

A student's process is never shown this package: `grading/sandbox` runs it without.
"""
