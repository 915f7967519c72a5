"""Analysis as a process: queries come in as lines of JSON, and answers go out (docs/analyse.md)."""
