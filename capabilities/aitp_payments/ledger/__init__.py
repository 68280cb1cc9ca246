"""The ledger: double-entry accounts, channels and holds in the desk's own store."""
