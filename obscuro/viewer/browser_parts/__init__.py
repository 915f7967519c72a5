"""The parts of the pages in the browser that others wrote: the board and the curves."""
