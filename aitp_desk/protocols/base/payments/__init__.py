"""Payment members that several protocols share."""
