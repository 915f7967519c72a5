"""What the engine plays, beside the paper and in matches."""
