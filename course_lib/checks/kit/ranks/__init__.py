"""Checks of functions for MPI ranks: they are rehearsed, with one rank up to several."""
