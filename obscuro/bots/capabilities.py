"""What the bridge tells a server that it can play. Every use of the variant's names is from here.

pychess.org refuses the event stream of a bot that does not say so. Other servers take no notice of
the header.
"""

from __future__ import annotations

import json

FOG_VARIANTS = ("fogofwar", "darkchess")
"""Names of the variant, in lower case, letters and digits only; pychess.org's is `fogofwar`."""
CAPABILITIES_HEADER = "X-PyChess-Bot-Capabilities"
CAPABILITIES_VERSION = 1


def capabilities() -> str:
    """Return the value of the header: one line of JSON with the version and the variants."""
    said = {"version": CAPABILITIES_VERSION, "variants": list(FOG_VARIANTS)}
    return json.dumps(said, separators=(",", ":"))
