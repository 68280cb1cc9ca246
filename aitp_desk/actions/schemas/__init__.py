"""JSON Schemas of arguments and results: written, read and enforced."""
