"""What is called by name: `grade` and `release`, the gate of a release, a synthetic class."""
