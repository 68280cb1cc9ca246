"""The desk's own keys: the master key, what it wraps, and signatures made with them."""
