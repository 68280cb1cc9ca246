"""Tests of the transport for Telegram."""
