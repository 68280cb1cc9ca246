"""Actions and resources called by name, without a conversation."""
