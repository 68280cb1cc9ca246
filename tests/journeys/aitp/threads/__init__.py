"""Tests of the Threads API."""
