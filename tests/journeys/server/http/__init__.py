"""Tests of HTTP: message boundaries, slow clients and hostile input."""
