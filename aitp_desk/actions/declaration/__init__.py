"""Actions and resources that an owner declares in Python."""
