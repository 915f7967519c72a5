"""The pages under docs/results: raw files, the manifest, and what renders and runs them."""
