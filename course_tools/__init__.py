"""What runs the course and is imported by no lesson: building, grading, measuring, the book, the doctor."""
