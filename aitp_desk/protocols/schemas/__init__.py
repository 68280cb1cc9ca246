"""The schemas of the capabilities that a site has enabled, for whoever sends or reads messages."""
