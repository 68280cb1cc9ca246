"""Values and rules of access control."""
