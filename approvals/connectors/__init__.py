"""The ways out: one module for each kind of remote, all speaking `base.Connector`."""
