"""What the rows say, in numbers."""
