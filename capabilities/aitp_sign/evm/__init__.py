"""Ethereum and its kin: wallets, transactions, typed data and their hashes."""
