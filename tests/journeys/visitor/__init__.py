"""A visiting agent, against real desks and against hostile servers."""
