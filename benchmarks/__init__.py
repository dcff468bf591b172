"""Stanchion beside other queues that keep their jobs in SQLite: ``python -m benchmarks``.

``contestants`` holds an adapter for each queue, ``workers`` what their worker processes load, ``measures`` what is measured.
``runner`` takes turns between the contestants, and ``tables`` shows what came of it. A run whose jobs do not add up gives no
number.
"""
