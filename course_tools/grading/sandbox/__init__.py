"""Processes of students and of checks: forked, shut in, watched from outside; and what runs inside."""
