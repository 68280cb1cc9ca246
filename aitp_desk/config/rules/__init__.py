"""What settings must satisfy beyond their types."""
