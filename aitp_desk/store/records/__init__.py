"""What units of work take and give: plain frozen values."""
