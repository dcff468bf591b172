"""cancel."""

from __future__ import annotations

from stanchion.commands import Cancel
from stanchion.engine.sqlite.handlers import dependents
from stanchion.engine.sqlite.handlers.ending import cancel_row
from stanchion.engine.sqlite.handlers.rows import Row, find_all, reread
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import HasDependents
from stanchion.states import State

_DEPENDENTS = (
    "SELECT jobs.id, jid, on_dependency_failure FROM dependencies JOIN jobs ON jobs.id = dependencies.job WHERE on_job = ?"
    " ORDER BY jid"
)


def cancel(tx: Transaction, command: Cancel) -> tuple[str, ...]:
    asked = find_all(tx, command.jids)
    for row in asked.values():
        if row.state == State.COMPLETE:
            dependents.finish(tx, row)
    going = _all_that_go(tx, asked, command.jids)
    for row in going:
        cancel_row(tx, row)
    for row in going:
        # Who goes too is gone by now: what is left are those whose policy is to run, or to fail.
        dependents.lost(tx, row)
    return tuple(row.jid for row in going)


def _all_that_go(tx: Transaction, asked: dict[str, Row], order: tuple[str, ...]) -> list[Row]:
    """The jobs asked for that exist, in that order, and those whose policy is to go with one of them."""
    going = {jid: asked[jid] for jid in order if jid in asked}
    looked = list(going.values())
    while looked:
        row = looked.pop()
        for job, jid, policy in tx.all(_DEPENDENTS, row.id):
            if jid in going:
                continue
            if policy == "wait":
                raise HasDependents(jid=row.jid, dependent=jid)
            if policy == "cancel":
                going[jid] = reread(tx, job)
                looked.append(going[jid])
    return list(going.values())
