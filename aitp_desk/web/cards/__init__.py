"""Cards: what the desk asks by structured messages, answered in place; of the chat and the page."""
