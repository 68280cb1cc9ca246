"""The doors: each translates one protocol to and from what the desk does."""
