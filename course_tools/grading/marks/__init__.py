"""From result files to what people read: gradebook, Canvas, Moodle, Gradescope, pages and pictures."""
