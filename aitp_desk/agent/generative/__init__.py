"""The agent that answers with a model."""
