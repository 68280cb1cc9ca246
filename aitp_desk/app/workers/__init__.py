"""Several processes of a desk on one address, and the supervisor that keeps them."""
