"""Tests of thread events and their followers."""
