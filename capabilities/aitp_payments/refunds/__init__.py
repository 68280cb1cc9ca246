"""Money that goes back: at once, or when the books can give it."""
