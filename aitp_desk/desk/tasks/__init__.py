"""Tasks, as protocols of tasks follow them."""
