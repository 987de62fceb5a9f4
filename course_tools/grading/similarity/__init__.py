"""Similar answers of different students, after renaming and reformatting. It shows; it decides nothing."""
