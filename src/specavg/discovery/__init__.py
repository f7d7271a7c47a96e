"""Discovery: the subgroup of a given group that is a symmetry of the function behind the data."""

from specavg.discovery._discover_symmetry import discover_symmetry
from specavg.discovery._discovery import Candidate, Discovery

__all__ = ["Candidate", "Discovery", "discover_symmetry"]
