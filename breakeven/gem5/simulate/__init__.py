"""Running a board."""
