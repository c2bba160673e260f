"""Brings a store of an earlier layout to this one."""

from __future__ import annotations

import sqlite3

from breakeven.points.engine import Identity
from breakeven.store.rows import CONTEXT_COLUMNS, LAYOUT, SCHEMA, ContextRow, row_sum


def upgrade(db: sqlite3.Connection, layout: int) -> int:
    """From an earlier layout, within the caller's transaction; the layout, a later one as it is.

    Rows without a checksum get one of what they hold today: points (layout 1), and contexts whose description is that
    of their key. Notes had none: they are dropped, and their questions are answered again.
    """
    if layout >= LAYOUT:
        return layout
    contexts = [ContextRow(*row) for row in db.execute(f"SELECT {CONTEXT_COLUMNS.replace('sum', 'NULL')} FROM context")]
    db.execute("ALTER TABLE context ADD COLUMN sum BLOB")
    for row in contexts:
        if row.description is not None:
            db.execute("UPDATE context SET sum=? WHERE id=?", (row.own_sum, row.id))
    if layout == 1:
        db.create_function("row_sum", 5, _point_sum, deterministic=True)
        db.execute("ALTER TABLE result ADD COLUMN sum BLOB")
        db.execute(
            "UPDATE result SET sum = (SELECT row_sum(engine, machine_hash, guest, result.point, result.result)"
            " FROM context WHERE id = result.context)"
        )
    db.execute("DROP TABLE IF EXISTS note")
    db.execute(next(statement for statement in SCHEMA.split(";") if "CREATE TABLE note" in statement))
    db.execute(f"PRAGMA user_version={LAYOUT}")
    return LAYOUT


def _point_sum(engine: str, machine_hash: str, guest: str, point: object, result: object) -> bytes:
    return row_sum(Identity(engine, machine_hash, guest), point, result)


def in_memory(db: sqlite3.Connection) -> sqlite3.Connection:
    """A copy that can be brought to this layout, of a store that cannot be written, which is closed."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    copy.text_factory = db.text_factory
    db.backup(copy)
    db.close()
    return copy
