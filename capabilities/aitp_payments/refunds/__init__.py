"""Refunds: at once, or when the ledger covers them."""
