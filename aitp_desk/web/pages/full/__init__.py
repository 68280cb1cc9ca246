"""The whole content as one document."""
