"""The settings of who may do what, and how often."""
