"""What recorded games and solved trees say of a leaf's value: data, fits, and how good they are."""
