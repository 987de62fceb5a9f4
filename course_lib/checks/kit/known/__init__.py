"""Known mistakes, and the proof that one of them, or several, is the cause of what was seen."""
