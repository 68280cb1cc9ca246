"""Keys, tokens and callers for tests."""
