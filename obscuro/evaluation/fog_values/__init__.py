"""What fog changes about a position's value: features that a player would name, and their weights."""
