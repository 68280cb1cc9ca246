"""Tests of MCP's wire format."""
