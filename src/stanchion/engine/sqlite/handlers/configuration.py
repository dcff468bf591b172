"""config.get, config.all, config.set, config.unset."""

from __future__ import annotations

import msgspec

from stanchion.commands import AllConfig, GetConfig, SetConfig, UnsetConfig
from stanchion.engine.sqlite.handlers import events
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.rules.config import OPTIONS, QUEUE_OPTIONS, ConfigValue, option_of, parse_option

_SETTINGS = "settings"


def settings(tx: Transaction) -> dict[str, ConfigValue]:
    """The options that were set. They are read once for all commands of a transaction."""
    found: dict[str, ConfigValue] | None = tx.memo.get(_SETTINGS)
    if found is None:
        read = {option: read_option(option, value) for option, value in tx.all("SELECT option, value FROM config")}
        found = tx.memo[_SETTINGS] = {option: value for option, value in read.items() if value is not None}
    return found


def read_option(option: str, text: str) -> ConfigValue | None:
    """The value of an option as the table keeps it; None if it is broken: then the default holds, and every queue goes on."""
    try:
        return parse_option(option, msgspec.json.decode(text))
    except (ValueError, msgspec.MsgspecError):
        return None


def forget_settings(tx: Transaction) -> None:
    """Read them again: they have changed."""
    tx.memo.pop(_SETTINGS, None)


def get_config(tx: Transaction, command: GetConfig) -> ConfigValue | None:
    found = settings(tx).get(command.option)
    if found is not None:
        return found
    if command.option in OPTIONS:
        return OPTIONS[command.option].default
    return _queue_default(tx, command.option)


def all_config(tx: Transaction, command: AllConfig) -> dict[str, ConfigValue]:
    return {**{name: option.default for name, option in OPTIONS.items()}, **settings(tx)}


def set_config(tx: Transaction, command: SetConfig) -> None:
    value = msgspec.json.encode(command.value).decode()
    tx.run(
        "INSERT INTO config VALUES (?, ?) ON CONFLICT (option) DO UPDATE SET value = excluded.value",
        command.option,
        value,
    )
    forget_settings(tx)
    events.log(tx, "config_set", option=command.option, value=command.value)


def unset_config(tx: Transaction, command: UnsetConfig) -> None:
    tx.run("DELETE FROM config WHERE option = ?", command.option)
    forget_settings(tx)
    events.log(tx, "config_unset", option=command.option)


def _queue_default(tx: Transaction, name: str) -> ConfigValue | None:
    option = option_of(name)
    if option is None:
        return None
    general = next(suffix for suffix in QUEUE_OPTIONS if name.endswith(f"-{suffix}"))
    return settings(tx).get(general, option.default) if general in OPTIONS else option.default
