"""Advice before a plan: coarse goals with their progress, and a monitor that finds loops."""
