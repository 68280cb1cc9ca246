"""Commands between this site and other agents: visits, and MCP on standard input."""
