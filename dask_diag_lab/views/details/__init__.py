"""Pages about one thing, a worker or a task; what they need is asked while one looks."""
