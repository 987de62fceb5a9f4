"""Questions and calls between processes that do not trust each other."""
