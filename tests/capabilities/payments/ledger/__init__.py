"""Tests of the ledger: accounts, channels, codes and refunds."""
