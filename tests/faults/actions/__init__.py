"""Actions for desks that are killed or interrupted."""
