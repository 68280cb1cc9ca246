"""Tests of the transport for WhatsApp."""
