"""Where audit events go: `from_settings()` gives the one configured sink."""

from approvals.sinks.registry import from_settings, make, make_with

__all__ = ["from_settings", "make", "make_with"]
