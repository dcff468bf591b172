"""The rules of the queue as pure functions: no storage, no clock. What an engine does with its data, these decide."""
