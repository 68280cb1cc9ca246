"""The settings of the protocols."""
