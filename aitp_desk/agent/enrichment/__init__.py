"""Lets a model write the questions that each passage answers, through the Messages API."""
