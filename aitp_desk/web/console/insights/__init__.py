"""The console's insights: figures, open questions, and their export."""
