"""Content for tests of the knowledge package."""
