"""What students say in words: read without names by a rubric, in one page, by keyboard, and back into the gradebook."""
