"""Every action of the example shop over every protocol: the calls and their outcomes."""
