"""The parts of the proof against the real server of pychess.org, `tools/proofs/real_pychess.py`."""
