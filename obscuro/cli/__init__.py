"""The command line: `obscuro` and its subcommands."""
