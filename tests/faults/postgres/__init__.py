"""What a desk does while its PostgreSQL server has a fault."""
