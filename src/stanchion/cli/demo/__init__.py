"""``stanchion demo``: the Python files of this machine's own standard library, indexed by a pipeline of jobs."""
