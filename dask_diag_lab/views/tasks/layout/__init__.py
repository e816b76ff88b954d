"""Where the nodes of a graph go, and stay while it grows: pure functions without tasks or Bokeh."""
