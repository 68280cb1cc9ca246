"""Values of actions, resources, calls, jobs and tasks."""
