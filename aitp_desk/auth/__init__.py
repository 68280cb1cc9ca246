"""Who is calling: request parts → Principal. Doors pass it on and never look at headers again."""
