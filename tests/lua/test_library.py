"""The text of the library: what it is made of, and what no server would say until a command runs."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from stanchion import errors
from stanchion.commands import VOCABULARY
from stanchion.engine.redis import library
from stanchion.engine.redis.calls import _DECODERS
from tests.servers import SHARED, binaries

LUA = Path(library.__file__).parent / "lua"
SOURCES = sorted(LUA.rglob("*.lua"))
OF_LIBRARY = [path for path in SOURCES if path.parent.name != "script"]

VERSIONS = {1: "9a02f99c00874e10"}
"""What each version of the library was, by a digest of its text: a change of the Lua needs a new version, once it was released."""


def code(path: Path) -> str:
    """A module without its comments."""
    return re.sub(r"--[^\n]*", "", path.read_text("utf-8"))


def test_every_command_has_a_file_and_a_decoder() -> None:
    files = {path.stem for path in (LUA / "native").iterdir()}
    assert files == {name.replace(".", "_") for name in VOCABULARY} | {"next", "may"}
    assert set(_DECODERS) == set(VOCABULARY.values())


def test_every_module_is_used() -> None:
    used = {name for path in SOURCES for name in re.findall(r"use\('([^']+)'\)", code(path))}
    names = {str(path.relative_to(LUA).with_suffix("")) for path in SOURCES}
    assert {name for name in names - used if not name.startswith("native/")} == {"main", "commands", "script/main"} - used


def test_every_refusal_has_a_class() -> None:
    codes = {one.code for one in vars(errors).values() if isinstance(one, type) and hasattr(one, "code")}
    used = {found for path in OF_LIBRARY for found in re.findall(r"refuse\(\s*'([^']+)'", code(path))}
    assert used
    assert used <= codes


def test_every_command_of_the_server_is_tried_before_the_first_call() -> None:
    used = {found for path in OF_LIBRARY for found in re.findall(r"call\(\s*'([a-z]+)'", code(path))} | {
        "zrange",
        "zrevrange",
    }
    tries = code(LUA / "native" / "may.lua").partition("TRIES = {")[2].partition("\n}\n")[0]
    tried = set(re.findall(r"\{ '([a-z]+)'", tries))
    assert used - {"time"} == tried


def test_keys_are_made_in_one_place_only() -> None:
    made = [path.name for path in SOURCES if "context.namespace .." in code(path)]
    assert sorted(made) == ["call.lua", "events.lua", "keys.lua", "may.lua"]


def test_only_names_and_messages_go_through_cjson() -> None:
    assert [path.name for path in SOURCES if "cjson." in code(path)] == ["texts.lua"]


def test_no_key_gets_a_time_to_live() -> None:
    assert [path.name for path in SOURCES if re.search(r"call\(\s*'p?expire", code(path))] == []


def test_a_changed_library_has_a_new_version() -> None:
    assert VERSIONS[library.VERSION] == hashlib.sha256(library.text().encode()).hexdigest()[:16]


@pytest.mark.parametrize("kind", sorted(binaries()))
def test_a_server_takes_the_library(kind: str) -> None:
    with SHARED.get(kind).client() as client:
        client.function_load(library.text(), replace=True)
        assert client.execute_command("FCALL_RO", library.VERSION_FUNCTION, 0) == library.VERSION
        client.execute_command("FUNCTION", "DELETE", library.LIBRARY)
    SHARED.remove()


def test_luacheck_finds_nothing() -> None:
    luacheck = shutil.which("luacheck")
    if luacheck is None:
        pytest.skip("luacheck is not installed")
    command = [luacheck, str(LUA), "--config", str(LUA / ".luacheckrc"), "--no-color", "-q"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
