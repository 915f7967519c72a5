"""What each command accepts, and its help texts; `obscuro.cli.arguments` puts them together."""
