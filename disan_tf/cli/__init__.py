"""The command line: flags, modes, help and mistakes."""
