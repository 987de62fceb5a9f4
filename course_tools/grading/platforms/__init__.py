"""What other products take: Gradescope's autograder, GitHub's workflow, nbgrader's exchange, feedback in bulk."""
