"""Values and rules of who may do what."""
