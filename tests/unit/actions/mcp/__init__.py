"""Tests of actions from MCP servers."""
