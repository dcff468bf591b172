"""What a Redis or Valkey server pays for the queue: its time and memory for each job, and its longest calls.

``python -m benchmarks.server``. The old Qless script, which qless-py carries, runs beside ours; it is changed on the way only so
that a server of today loads it.
"""
