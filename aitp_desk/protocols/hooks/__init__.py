"""Where other servers send what capabilities wait for."""
