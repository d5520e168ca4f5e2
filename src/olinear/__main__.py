"""`python -m olinear`: the command, where its script is not on the path."""

from olinear.cli import main

if __name__ == "__main__":  # a worker process imports this file too
    main()
