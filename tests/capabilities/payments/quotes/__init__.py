"""Tests of quotes: messages, signatures, payment and chains."""
