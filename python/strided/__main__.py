"""`python -m strided` is the command `strided`."""

import sys

from strided.cli import main

if __name__ == "__main__":
    sys.exit(main())
