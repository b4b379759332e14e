"""`python -m midcourse` is `midcourse`."""

import sys

from midcourse.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
