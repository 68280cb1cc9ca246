"""Tests of A2A with the SDK's client and without it."""
