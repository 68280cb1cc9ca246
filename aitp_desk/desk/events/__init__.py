"""Events of threads, and those who follow them."""
