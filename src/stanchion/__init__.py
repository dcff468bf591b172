"""Stanchion, a job queue for Python."""

from importlib.metadata import version

__version__ = version("stanchion")
