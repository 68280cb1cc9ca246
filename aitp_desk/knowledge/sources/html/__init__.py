"""HTML pages: their visible main content as blocks."""
