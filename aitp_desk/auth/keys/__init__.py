"""The desk's own keys: the master key, the keys it wraps, and their signatures."""
