"""`python -m strided` is the command `strided`."""

import sys

from strided.cli import main

sys.exit(main())
