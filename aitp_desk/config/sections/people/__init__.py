"""The settings of the people who run the desk."""
