"""NEAR: wallets, transactions and the keys of its accounts."""
