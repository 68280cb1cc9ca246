"""Stores threads and related data in PostgreSQL (the extra ``postgres``)."""
