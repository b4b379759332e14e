"""Print the profiles with their digests, to record what a figure was measured under."""

import json
import sys
from dataclasses import asdict

from midcourse.worlds.simulated.drift import PROFILES


def main() -> int:
    for name, drift in PROFILES.items():
        sys.stdout.write(f"{name} {drift.digest} {json.dumps(asdict(drift))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
