"""Thread services: creation, messages, files, grants, sessions and streams."""
