"""What browsers see."""
