"""`python -m mockserver` is the command `crosschain-mock`."""

from mockserver.cli import main

if __name__ == "__main__":
    main()
