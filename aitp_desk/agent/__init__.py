"""Who answers: the promises of an agent, and the agent that answers by extraction."""
