"""python -m runner: the command line of Assay."""

import sys

if __name__ == "__main__":
    try:
        from runner.cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # while modules are imported
        print("assay: interrupted", file=sys.stderr)
        sys.exit(130)
