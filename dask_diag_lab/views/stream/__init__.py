"""The task stream: what every thread of every worker did, moment by moment."""
