"""The parts of `bench papers`: each measures, and returns what goes into the JSON."""
