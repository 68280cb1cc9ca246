"""Settings of the protocols."""
