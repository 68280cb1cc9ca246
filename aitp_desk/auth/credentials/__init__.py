"""The credentials that a request can carry, and their verification."""
