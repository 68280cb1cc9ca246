"""Code that all protocols share."""
