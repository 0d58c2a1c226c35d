"""The program: ``python -m alphorn`` is the command ``alphorn``."""

from ._program import main

if __name__ == "__main__":
    main()
