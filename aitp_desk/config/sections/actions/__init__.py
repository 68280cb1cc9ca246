"""Settings of actions."""
