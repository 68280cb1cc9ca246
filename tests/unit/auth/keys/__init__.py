"""Tests of the desk's own keys and signatures."""
