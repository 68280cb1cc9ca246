"""An action's arguments as a form, read from their JSON Schema."""
