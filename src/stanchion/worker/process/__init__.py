"""Jobs in processes of their own.

``nursery`` starts one clean process, the ``server``, which imports the app and forks ``child`` processes: it has one thread
only, so that no lock is ever copied while it is held. Each child has a ``tender``, a thread of the worker, which tells it what
to run, hears what came of it, and is told by the server at once when it dies. ``patience`` and ``obituary`` decide.
"""
