"""Other agent systems beside Midcourse: the same pages, the same faults, the same scripted model. Used by `benchmarks.peers`."""
