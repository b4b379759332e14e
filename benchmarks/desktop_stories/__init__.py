"""Stories in real programs, what can go wrong in them, and how their effects are counted. Used by `desktop`, `kill_mail` and tests."""
