"""Documents and the passages that answers are taken from."""
