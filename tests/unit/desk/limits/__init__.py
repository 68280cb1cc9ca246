"""Tests of rate limits, concurrency and fair shares."""
