"""The client: calls by nouns become commands. ``aio`` is written by hand, ``sync`` is generated from it."""
