# Generated from ../aio/__init__.py by tools/generate_sync.py: change that file, not this one.
"""The client for callers that block."""
