"""The client for callers that await. ``stanchion.client.sync`` is generated from it."""
