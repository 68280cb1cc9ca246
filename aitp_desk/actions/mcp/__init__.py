"""Tools of MCP servers as actions."""
