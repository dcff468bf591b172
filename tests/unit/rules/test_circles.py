"""Circles of dependencies."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.circles import find_circle

graphs = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), unique=True))


@pytest.mark.parametrize(
    ("graph", "circle"),
    [
        ({}, None),
        ({"a": "b"}, None),
        ({"a": "a"}, ["a", "a"]),
        ({"a": "b", "b": "a"}, ["a", "b", "a"]),
        ({"a": "b", "b": "c", "c": "a"}, ["a", "b", "c", "a"]),
        ({"a": "b", "b": "c", "c": "b"}, None),
        ({"a": "bc", "b": "d", "c": "d"}, None),
        ({"a": "bc", "b": "d", "c": "e", "e": "a"}, ["a", "c", "e", "a"]),
    ],
)
def test_circles_through_a(graph: dict[str, str], circle: list[str] | None) -> None:
    assert find_circle("a", lambda jid: graph.get(jid, "")) == circle


@pytest.mark.slow
@given(graphs)
def test_a_path_is_made_of_dependencies_and_none_means_none(graph: dict[str, list[str]]) -> None:
    path = find_circle("a", lambda jid: graph.get(jid, []))
    reached: set[str] = set()
    ahead = list(graph.get("a", []))
    while ahead:
        jid = ahead.pop()
        if jid not in reached:
            reached.add(jid)
            ahead += graph.get(jid, [])
    assert (path is not None) == ("a" in reached)
    if path is not None:
        assert path[0] == path[-1] == "a"
        assert all(then in graph[jid] for jid, then in pairwise(path))
        assert len(set(path)) == len(path) - 1


def test_a_chain_longer_than_any_stack() -> None:
    length = 100_000
    path = find_circle("0", lambda jid: [str((int(jid) + 1) % length)])
    assert path == [*map(str, range(length)), "0"]


def test_each_job_is_asked_once() -> None:
    asked: list[str] = []

    def ask(jid: str) -> list[str]:
        asked.append(jid)
        return [f"{level}.{n}" for level in [int(jid.split(".", maxsplit=1)[0]) + 1] for n in range(10) if level < 20]

    assert find_circle("0.0", ask) is None
    assert len(asked) == len(set(asked)) == 1 + 19 * 10
