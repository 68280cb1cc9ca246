"""Thread events and their subscribers."""
