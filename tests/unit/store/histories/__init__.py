"""Random histories of units of work, for the two engines to agree on."""
