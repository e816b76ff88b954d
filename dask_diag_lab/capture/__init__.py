"""What stays of a computation when it is over: task streams captured for later."""
