"""The command `python -m data_prep.download sst --data_dir=data`."""

import sys

from data_prep.download.fetch import main

if __name__ == "__main__":
    sys.exit(main())
