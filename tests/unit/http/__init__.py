"""Tests of the HTTP server: connections, routing and CORS."""
