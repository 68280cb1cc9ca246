"""The settings of actions."""
