"""Tests of background jobs, schedules and callbacks."""
