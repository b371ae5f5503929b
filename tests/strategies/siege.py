"""Statement after statement against the guards: legal life, and variants that look for a way past.

Promises: the same seed sends the same statements; what meets a guard once is remembered and sent
again, until each guard has refused often enough; every refusal is counted by the name that the
database gave it.
Does not judge what got through: independent queries do.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import psycopg

from tests.strategies.catalogue import Form, Installed
from tests.strategies.statements import FIELDS, Statement, Verb, delete
from tests.strategies.steps import STEPS, WEIGHTS, Step
from tests.strategies.variants import WAYS, Variant, variant, ways_of
from tests.strategies.world import NoSuchRow, World

Place: TypeAlias = tuple[Verb, str]
"""A verb and a table: where a variant fits."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was sent and what became of it."""

    sent: int = 0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unnamed: Counter[str] = field(default_factory=Counter)
    """Refusals without a guard's name: not null, no value of its type, a missing privilege."""


@dataclass(slots=True, kw_only=True, eq=False)
class Finding:
    """A way that met a guard, and how often it has since."""

    step: Step
    place: Place
    way: Variant | None
    """None: the statement is left out."""
    tried: int = 1
    met: int = 1


_FRESH_IDS = {"public_id", "external_id"}
"""Texts that end like references."""


class Siege:
    """One run against one database, as the application's role."""

    def __init__(
        self,
        *,
        connection: psycopg.Connection,
        guards: Sequence[Installed],
        shadowed: Collection[str],
        quota: int,
        seed: int,
    ) -> None:
        self.tally = Tally()
        self.world = World(connection=connection, seed=seed, before_reading=self._flush)
        self._rng = self.world.rng
        self._cursor = connection.cursor()
        self._pending = ""
        self._quota = quota
        self._legal_only = False
        self._wanted: dict[str, dict[str, Installed]] = defaultdict(dict)
        self._uniques: dict[str, list[Installed]] = defaultdict(list)
        for guard in guards:
            if guard.name not in shadowed:
                self._wanted[guard.table][guard.name] = guard
            if guard.form is Form.UNIQUE and "id" not in guard.columns:
                self._uniques[guard.table].append(guard)
        late = [f'"{g.name}"' for g in guards if g.deferred and g.form is Form.REFERENCE]
        self._references_at_once = f"SET CONSTRAINTS {', '.join(late)} IMMEDIATE"
        self._findings: dict[str, list[Finding]] = defaultdict(list)
        self._steps_at: dict[str, list[Step]] = defaultdict(list)

    def run(self, *, at_least: int, at_most: int) -> Tally:
        """Send until enough was sent, accepted and refused; or until too much was sent."""
        while self.tally.sent < at_most and not (
            self.tally.sent >= at_least
            and self._met()
            and 3 * self.tally.accepted >= self.tally.sent
        ):
            self._turn()
        return self.tally

    def run_behind(self, guards: Sequence[Installed], *, at_most: int) -> Counter[str]:
        """Meet guards that others stand before, once those are away; take every transaction back.

        Returns:
            How often each refused.
        """
        before, self.tally = self.tally, Tally()
        self._legal_only = True
        for guard in guards:
            self._wanted[guard.table][guard.name] = guard
        while self.tally.sent < at_most and not self._met():
            self._turn()
        refused, self.tally, self._legal_only = self.tally.refused, before, False
        return refused

    def missing(self) -> Mapping[str, int]:
        """Return the guards that have refused too rarely, with their counts."""
        return {name: self.tally.refused[name] for at in self._wanted.values() for name in at}

    def _met(self) -> bool:
        return not any(self._wanted.values())

    def _turn(self) -> None:
        step = self._step()
        try:
            legal = step(self.world)
        except NoSuchRow:
            return
        for statement in legal:
            if step not in self._steps_at[statement.table]:
                self._steps_at[statement.table].append(step)
        if (
            not self._legal_only
            and self._rng.random() < 0.2
            and self._whole(step, legal, really=True)
        ):
            return
        self._with_variants(step, legal)

    def _step(self) -> Step:
        wanted = [guard for at in self._wanted.values() for guard in at.values()]
        if wanted and self._rng.random() < 0.45:
            guard = self._rng.choice(wanted)
            known = [f.step for f in self._findings[guard.name]] or self._steps_at[guard.table]
            if known:
                return self._rng.choice(known)
        return self._rng.choices(STEPS, [WEIGHTS.get(step, 3) for step in STEPS])[0]

    # --- a whole transaction with one statement changed or left out: what looks at commit ---------

    def _whole(self, step: Step, legal: list[Statement], *, really: bool) -> bool:
        """Send a changed transaction, to its commit or to where that would look; False if none fits."""
        wanted = [
            guard
            for table in self._tables_near(legal)
            for guard in self._wanted[table].values()
            if guard.deferred and guard.form is not Form.REFERENCE
        ]
        if not wanted:
            return False
        guard = self._rng.choice(wanted)
        fitting = [f for f in self._findings[guard.name] if f.step is step]
        finding = self._best(fitting) if fitting and self._rng.random() < 0.8 else None
        finding = finding or self._explored(step, legal, guard)
        changed = self._changed(legal, finding)
        if changed is None:
            return False
        self._note(
            finding, guard, self._transaction(changed) if really else self._rehearsal(changed)
        )
        return True

    def _tables_near(self, legal: Sequence[Statement]) -> Sequence[str]:
        touched = {s.table for s in legal}
        closing = {"tickets_ticket", "tickets_resolution", "tickets_request", "actions_intent"}
        return sorted(touched | (closing if touched & closing else set()))

    def _explored(self, step: Step, legal: Sequence[Statement], guard: Installed) -> Finding:
        statement = self._rng.choice(legal)
        place = (statement.verb, statement.table)
        if self._rng.random() < 0.35:
            return Finding(step=step, place=place, way=None, tried=0, met=0)
        columns = (
            guard.columns
            if statement.table == guard.table and guard.columns
            else list(FIELDS[statement.table])
        )
        way = (
            Variant(verb=Verb.DELETE, drawn={})
            if statement.verb is Verb.DELETE
            else variant(self.world, statement, columns, count=self._rng.choice([1, 1, 2]))
        )
        return Finding(step=step, place=place, way=way, tried=0, met=0)

    def _changed(self, legal: Sequence[Statement], finding: Finding) -> list[Statement] | None:
        changed, done = [], False
        for statement in legal:
            if done or (statement.verb, statement.table) != finding.place:
                changed.append(statement)
                continue
            done = True
            if finding.way is not None:
                try:
                    changed.append(finding.way.of(statement, self.world))
                except NoSuchRow:
                    return None
        return changed if done else None

    def _transaction(self, statements: Sequence[Statement]) -> str:
        """Send one transaction; return the guard that refused it, or nothing."""
        self._plain("BEGIN")
        try:
            for statement in statements:
                self._send(statement)
            self._now("COMMIT")
        except psycopg.Error as error:
            self._now("ROLLBACK")
            return self._refused(error, None)
        self.tally.accepted += len(statements)
        return ""

    def _rehearsal(self, statements: Sequence[Statement]) -> str:
        """Send statements in a transaction, let what looks at commit look, and take them back."""
        self._plain("SAVEPOINT v")
        try:
            for statement in statements:
                self._send(statement)
            self._now("SET CONSTRAINTS ALL IMMEDIATE")
        except psycopg.Error as error:
            self._plain("ROLLBACK TO v")
            return self._refused(error, None)
        self._plain("ROLLBACK TO v")
        return ""

    # --- variants beside a legal transaction: what looks at once ----------------------------------

    def _with_variants(self, step: Step, legal: list[Statement]) -> None:
        kept = 0
        self._plain("BEGIN")
        try:
            game = self._rng.random()
            if game < 0.5:
                self._plain(self._references_at_once)
            elif game < 0.6:
                self._plain("SET CONSTRAINTS ALL DEFERRED")
            self._forbidden()
            for _ in range(0 if self._must_live() else self._rng.randint(0, 3)):
                self._whole(step, legal, really=False)
            for statement in legal:
                if self._siege(step, statement, at_once=game < 0.5):
                    kept += 1
                    continue
                self._send(statement)
                kept += 1
                self._siege_beside(statement)
            self._now("COMMIT")
        except psycopg.Error as error:
            self._now("ROLLBACK")
            self._refused(error, None)
            return
        self.tally.accepted += kept

    def _forbidden(self) -> None:
        """Change what never changes, or delete it."""
        tables = [t for t, guards in self._wanted.items() if f"{t}_changes" in guards]
        for table in self._rng.sample(tables, k=min(4, len(tables))):
            try:
                row = self.world.row(table)
            except NoSuchRow:
                continue
            columns = list(FIELDS[table])
            column = self._rng.choice(columns)
            try:
                value = WAYS[self._rng.choice(ways_of(FIELDS[table][column]))](
                    self.world, table, column, row[column]
                )
            except NoSuchRow:
                continue
            statement = (
                delete(table, int(str(row["id"])))
                if self._rng.random() < 0.3
                else Statement(
                    verb=Verb.UPDATE,
                    table=table,
                    row_id=int(str(row["id"])),
                    values={column: value},
                )
            )
            self._plain("SAVEPOINT v")
            if self._try(statement) == "":
                self._plain("ROLLBACK TO v")

    def _siege(self, step: Step, statement: Statement, *, at_once: bool) -> bool:
        """Send variants in place of a legal statement; True if one of them is kept instead."""
        wanted = [
            guard
            for guard in self._wanted[statement.table].values()
            if not guard.deferred or (at_once and guard.form is Form.REFERENCE)
        ]
        if statement.verb is Verb.DELETE:
            return False
        if self._must_live() or (not wanted and self._rng.random() > 0.15):
            return False
        self._plain("SAVEPOINT v")
        rare = sorted(self._rng.sample(wanted, k=min(8, len(wanted))), key=self._count)[:4]
        known = [g for g in rare if any(f.place[1] == g.table for f in self._findings[g.name])]
        guards: list[Installed | None] = [*rare, *known, *known]
        for guard in guards or [None]:
            finding = self._for(step, statement, guard)
            if finding is None or finding.way is None:
                continue
            try:
                sent = finding.way.of(statement, self.world)
            except NoSuchRow:
                continue
            name = self._try(sent)
            self._note(finding, guard, name)
            if name == "":
                if not self._legal_only and self._rng.random() < 0.15:
                    return True
                self._plain("ROLLBACK TO v")
        return False

    def _must_live(self) -> bool:
        """Has too little been accepted so far? Then nothing but legal statements goes out for a while."""
        return not self._legal_only and 100 * self.tally.accepted < 36 * self.tally.sent

    def _siege_beside(self, statement: Statement) -> None:
        """Send a second row beside a legal one, equal in what must be unique."""
        if statement.verb is not Verb.INSERT:
            return
        uniques = self._uniques[statement.table]
        wanted = [guard for guard in uniques if guard.name in self._wanted[statement.table]]
        if not wanted:
            return
        guard = self._rng.choice(wanted)
        others = {
            c
            for other in uniques
            for c in other.columns
            if not c.endswith("_id") or c in _FRESH_IDS
        }
        fresh = tuple(sorted(others - set(guard.columns)))
        self._plain("SAVEPOINT v")
        beside = Variant(verb=Verb.INSERT, drawn={}, fresh=fresh or ("",))
        if self._try(beside.of(statement, self.world)) == "":
            self._plain("ROLLBACK TO v")

    def _for(self, step: Step, statement: Statement, guard: Installed | None) -> Finding | None:
        place = (statement.verb, statement.table)
        if guard is None:
            way = variant(self.world, statement, list(FIELDS[statement.table]), count=1)
            return Finding(step=step, place=place, way=way, tried=0, met=0)
        fitting = [f for f in self._findings[guard.name] if f.place == place and f.way is not None]
        if fitting and self._rng.random() < 0.85:
            return self._best([f for f in fitting if f.step is step] or fitting)
        touched = bool(set(guard.columns) & set(statement.values))
        if statement.verb is Verb.UPDATE and self._rng.random() < 0.9 and not touched:
            # What a statement does not touch is rarely refused for the guard's own reason.
            return None
        columns = guard.columns or tuple(FIELDS[statement.table])
        if guard.form is Form.UNIQUE and statement.verb is Verb.INSERT:
            way = Variant(verb=Verb.INSERT, drawn={}, copied=guard.columns)
        else:
            columns = columns if self._rng.random() < 0.8 else tuple(FIELDS[statement.table])
            way = variant(self.world, statement, columns, count=self._rng.choice([1, 1, 2, 3]))
        return Finding(step=step, place=place, way=way, tried=0, met=0)

    def _count(self, guard: Installed) -> int:
        return self.tally.refused[guard.name]

    # --- sending and counting ---------------------------------------------------------------------

    def _best(self, findings: Sequence[Finding]) -> Finding:
        few = self._rng.sample(list(findings), k=min(3, len(findings)))
        return max(few, key=lambda finding: finding.met / (finding.tried + 1))

    def _note(self, finding: Finding, guard: Installed | None, name: str) -> None:
        finding.tried += 1
        if name:
            known = self._findings[name]
            if finding in known:
                finding.met += 1
            elif len(known) < 24:
                finding.tried, finding.met = 1, 1
                known.append(finding)

    def _plain(self, text: str) -> None:
        """Have a command that refuses nothing go out before the next statement, with its like."""
        self._pending += f"{text}; "

    def _flush(self) -> None:
        pending, self._pending = self._pending, ""
        if pending:
            self._cursor.execute(pending)

    def _now(self, text: str) -> None:
        self._plain(text)
        self._flush()

    def _send(self, statement: Statement) -> None:
        self.tally.sent += 1
        self._flush()
        self._cursor.execute(*statement.sql())

    def _try(self, statement: Statement) -> str:
        """Send a statement after a savepoint; return the guard that refused it, or nothing."""
        try:
            self._send(statement)
        except psycopg.Error as error:
            self._plain("ROLLBACK TO v")
            return self._refused(error, statement)
        return ""

    def _refused(self, error: psycopg.Error, statement: Statement | None) -> str:
        name = error.diag.constraint_name or ""
        if isinstance(error, psycopg.errors.InsufficientPrivilege) and statement is not None:
            # The grants stand before the trigger that says the same: only the owner meets that one.
            name = f"{statement.table}_changes"
        if not name:
            self.tally.unnamed[type(error).__name__] += 1
            return f"?{type(error).__name__}"
        self.tally.refused[name] += 1
        for guards in self._wanted.values():
            if name in guards and self.tally.refused[name] >= self._quota:
                del guards[name]
        return name
