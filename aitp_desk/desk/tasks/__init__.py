"""Tasks, as task-based protocols present them."""
