"""Ways by which people write to the desk: email and chat platforms, a folder each."""
