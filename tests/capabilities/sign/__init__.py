"""Tests of AITP-05: signatures and wallets."""
