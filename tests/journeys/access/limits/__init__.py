"""Tests of rate limits, token budgets and concurrency."""
