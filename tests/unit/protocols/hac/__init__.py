"""Tests of HAC envelopes, negotiation and middleware."""
