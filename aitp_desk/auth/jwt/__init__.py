"""JSON Web Tokens, of this desk and of issuers that the owner trusts."""
