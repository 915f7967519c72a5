"""The client of an engine's process, for this package and for other programs (docs/client.md)."""

from obscuro.client.analysis_client import (
    AnalysisClient,
    AnalysisQueryError,
    RunningAnalysis,
    analysis_command,
)
from obscuro.client.engine import Engine, PlayResult, engine_command
from obscuro.client.engine_pool import EnginePool
from obscuro.client.limit import Limit
from obscuro.client.move_report import BeliefAnswer, MarginalsAnswer, Report
from obscuro.client.uci_process import EngineError, MachineFault, SilentEngineError

__all__ = [
    "AnalysisClient",
    "AnalysisQueryError",
    "BeliefAnswer",
    "Engine",
    "EngineError",
    "EnginePool",
    "Limit",
    "MachineFault",
    "MarginalsAnswer",
    "PlayResult",
    "Report",
    "RunningAnalysis",
    "SilentEngineError",
    "analysis_command",
    "engine_command",
]
