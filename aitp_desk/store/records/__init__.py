"""Values that units of work take and return."""
