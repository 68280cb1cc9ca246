"""Tests of payments by Stripe."""
