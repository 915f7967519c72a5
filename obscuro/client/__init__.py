"""The client of an engine's process, for this package and for other programs (docs/client.md)."""

from obscuro.client.engine import Engine, PlayResult, engine_command
from obscuro.client.engine_pool import EnginePool
from obscuro.client.limit import Limit
from obscuro.client.move_report import BeliefAnswer, MarginalsAnswer, Report
from obscuro.client.uci_process import EngineError, MachineFault, SilentEngineError

__all__ = [
    "BeliefAnswer",
    "Engine",
    "EngineError",
    "EnginePool",
    "Limit",
    "MachineFault",
    "MarginalsAnswer",
    "PlayResult",
    "Report",
    "SilentEngineError",
    "engine_command",
]
