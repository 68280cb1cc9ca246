"""Units of work on tickets."""
