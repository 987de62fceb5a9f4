"""What each task earned, and whose fault it is where nothing could be judged."""
