"""Benchmarks of Midcourse. README.md lists them; each runs as `python -m benchmarks.NAME`."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository. Child processes start here, so that they can import this package too."""
