"""MCP at a visited site."""
