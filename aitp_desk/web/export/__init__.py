"""The site as files that any static server serves: AHP's MODE1 (AHP 0.1, section 5.1)."""
