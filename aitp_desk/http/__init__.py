"""From socket to request and back: the only package with the HTTP server."""
