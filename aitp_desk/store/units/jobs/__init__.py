"""Units of work on jobs and schedules."""
