"""Tests of paid calls: quotes, the ledger, Stripe and x402."""
