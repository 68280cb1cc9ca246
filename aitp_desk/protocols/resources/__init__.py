"""The site's resources at their own addresses, as JSON."""
