"""Making a new belief of what is known now, when no position explains all that was seen."""
