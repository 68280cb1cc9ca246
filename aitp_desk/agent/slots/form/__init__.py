"""Reads an action's arguments as a form from their JSON Schema."""
