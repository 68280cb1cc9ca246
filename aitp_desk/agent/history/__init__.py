"""What an agent is given of a thread, and how its answer is read."""
