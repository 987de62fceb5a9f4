"""What checks say to answers that nobody planted: the corpus in tests/answers, its shares, and what is still amiss."""
