"""WhatsApp: the Cloud API of the WhatsApp Business Platform."""
