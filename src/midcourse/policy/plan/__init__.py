"""Plans: from draft to steps, admission, and comparison of two versions."""
