"""The agent that answers with Claude."""
