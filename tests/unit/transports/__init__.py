"""Tests of what transports share, and of each transport alone."""
