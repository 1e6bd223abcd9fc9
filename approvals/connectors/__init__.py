"""The ways out: one module for each kind of remote, all speaking `base.Connector`."""

from approvals.connectors.registry import get, names

__all__ = ["get", "names"]
