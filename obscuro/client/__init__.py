"""One client of an engine process: start, restart, pool, report, and the text of `position fog`."""
