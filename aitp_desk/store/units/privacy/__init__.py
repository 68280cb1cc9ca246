"""Units of work that erase, seal, keep and restore."""
