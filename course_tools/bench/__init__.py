"""The benchmarks behind `course bench`: what is measured, and what is written of it."""
