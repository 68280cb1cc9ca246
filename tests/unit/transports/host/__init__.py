"""Tests of what the desk does for all transports."""
