"""The agent that answers by extraction, without a model."""
