"""Every action of the example shop by every door: what is called, and what must come of it."""
