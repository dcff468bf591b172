"""``python -m stanchion`` is the ``stanchion`` command."""

from stanchion.cli import main

if __name__ == "__main__":
    main()
