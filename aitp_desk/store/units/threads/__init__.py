"""Units of work on threads and messages."""
