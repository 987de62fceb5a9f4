"""Deadlines: who handed in when, by whose clock, and what that costs. Nothing is taken off unless it is asked for."""
