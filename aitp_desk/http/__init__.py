"""From a socket to a request and back: the only package that knows the HTTP server."""
