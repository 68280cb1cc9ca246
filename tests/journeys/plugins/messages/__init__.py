"""Tests of structured messages on threads and in sessions."""
