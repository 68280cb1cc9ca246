"""Links of capabilities that lead people elsewhere."""
