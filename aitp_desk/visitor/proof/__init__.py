"""What a visitor signs, and the records that it keeps of its visits."""
