"""The paper's claims, run: one file a figure or claim, and a report of what was found."""

from specavg.experiments._paper_task import Changes
from specavg.experiments._result import Claim, Experiment, Figure, Record, Result, Table
from specavg.experiments._run import EXPERIMENTS, reproduce

__all__ = ["EXPERIMENTS", "Changes", "Claim", "Experiment", "Figure", "Record", "Result", "Table", "reproduce"]
