"""Email: people write to an address of the site, and the desk answers on their thread."""
