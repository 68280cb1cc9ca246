"""Actions that are described from outside: by a file, or by a server that has them."""
