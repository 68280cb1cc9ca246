"""What operators read."""
