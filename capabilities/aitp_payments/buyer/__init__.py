"""The desk as buyer: what it pays others by itself, what its people decide, what came of it."""
