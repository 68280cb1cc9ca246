"""The ledger: double-entry accounts, channels and held money in the desk's own store."""
