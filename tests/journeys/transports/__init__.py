"""People on other platforms, who write to the desk."""
