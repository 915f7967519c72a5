"""A recorded game as one HTML page: what each side saw and believed, and what it made of that."""
