"""Rules that settings must satisfy beyond their types."""
