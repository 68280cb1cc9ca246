"""Ethereum and compatible chains: wallets, transactions, typed data and their hashes."""
