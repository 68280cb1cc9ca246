"""Tests of AITP-01: quotes, the ledger, purchases and payment providers."""
