"""What check cells call: `kit` has what all checks are built from, each chapter a package of its own."""
