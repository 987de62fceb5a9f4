"""`course bench grade`: what grading costs, beside plain nbval and nbgrader on the same submissions."""
