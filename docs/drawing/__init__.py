"""Drawings as plain SVG: a card, and charts on it. They know nothing of the results that they show."""
