"""Units of work on runs and tasks."""
