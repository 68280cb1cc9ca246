"""What the desk signs by itself, and what its operators decide."""
