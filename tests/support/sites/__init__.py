"""Sites, their actions and their content for tests."""
