"""Scripts that maintainers run by hand: pinned packages, packed data, a machine with a GPU."""
