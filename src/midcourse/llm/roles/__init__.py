"""Roles of a run that a model can fill: one module and one template each, a port's adapter."""
