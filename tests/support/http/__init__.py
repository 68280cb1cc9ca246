"""Raw connections, message boundaries and web servers for tests."""
