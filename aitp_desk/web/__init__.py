"""What browsers get: pages, the console, the static export."""
