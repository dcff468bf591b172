"""The kit within Django's TestCase: jobs run inside the test's transaction."""

from __future__ import annotations

import unittest
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.test import TestCase
from django.test.utils import setup_databases, teardown_databases

from stanchion import App
from stanchion.testing import Kit

app = App("sqlite://")


@app.task
def insert(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO people VALUES (%s)", [name])


def names() -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM people")
        return [name for (name,) in cursor.fetchall()]


class Inside(TestCase):
    __test__ = False  # run below, once Django is set up

    def setUp(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE people (name TEXT)")
        self.kit = self.enterContext(Kit(app))

    def test_what_a_job_writes_is_seen(self) -> None:
        insert.put("ada")
        self.kit.drain()
        assert names() == ["ada"]

    def test_and_rolled_back(self) -> None:
        assert names() == []
        with self.kit.inline():
            insert.put("bob")
        assert names() == ["bob"]


def test_inside_a_transaction() -> None:
    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, USE_TZ=True)
    django.setup()
    before = setup_databases(verbosity=0, interactive=False)
    try:
        tests = unittest.defaultTestLoader.loadTestsFromTestCase(Inside)
        result = unittest.TextTestRunner(verbosity=0).run(tests)
        assert result.testsRun == 2
        assert result.wasSuccessful(), [*result.errors, *result.failures]
    finally:
        teardown_databases(before, verbosity=0)
