"""Grading anew: on a student's request, or a task of everybody's whose check was mended. What is not named is kept."""
