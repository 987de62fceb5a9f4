"""What was handed in: read with care, never changed, put into the release's own notebook."""
