"""Tests of the server process: health, metrics, restart and retention."""
