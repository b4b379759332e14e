"""Prints the OpenAPI document: `python -m midcourse.server.openapi`."""

import json
import sys

from midcourse.server.app import build_api


def main() -> None:
    sys.stdout.write(json.dumps(build_api().openapi(), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
