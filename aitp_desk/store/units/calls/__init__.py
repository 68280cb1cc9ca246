"""Units of work on calls of actions."""
