"""A release: what students get and what the grader needs."""
