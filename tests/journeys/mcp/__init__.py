"""Tests of MCP: tools, transports and conformance."""
