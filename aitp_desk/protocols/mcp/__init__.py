"""MCP: the site's actions as tools, its pages as resources, its questions as prompts."""
