"""A belief that has lost the truth: a new one is made of what is known now."""
