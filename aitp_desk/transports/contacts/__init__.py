"""How a person goes on elsewhere: by a code, or by mail once the address is confirmed."""
