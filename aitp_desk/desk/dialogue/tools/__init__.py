"""The site's actions as tools of an agent."""
