"""Sites, tasks and a planner that were written and frozen before the browser world had been read or run on them."""
