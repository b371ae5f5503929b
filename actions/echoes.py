"""Echoes: each observation of an external object, kept as the platform gave it.

Promises: the only place that writes echoes; every echo names the attempt or the read that brought
it, and comes with all its parts.
Does not know what an echo means for its intent: that is `actions.confirming`.
"""

from collections.abc import Iterable
from datetime import datetime

from actions.models import Attempt, Echo, EchoPart, ExternalObject, Intent, Read
from integrations.money import Money
from integrations.ports import Observation, Part, Standing


def record_echo(
    external: ExternalObject, observation: Observation, *, source: Attempt | Read, at: datetime
) -> Echo:
    """Keep one observation with its parts; append-only."""
    echo = Echo.objects.create(
        workspace_id=external.workspace_id,
        external_object=external,
        attempt=source if isinstance(source, Attempt) else None,
        read=source if isinstance(source, Read) else None,
        target_identifier=observation.target or "",
        marker=_sole_marker(observation),
        author=observation.author or "",
        platform_created_at=observation.created_at,
        part_count=len(observation.parts),
        observed_at=at,
    )
    for part in observation.parts:
        EchoPart.objects.create(
            workspace_id=external.workspace_id,
            echo=echo,
            identifier=part.identifier,
            status=part.status,
            standing=part.standing,
            amount=part.money.amount,
            currency=part.money.currency,
            gateway=part.gateway,
            parent=part.parent or "",
            shop_amount=None if part.shop is None else part.shop.amount,
            shop_currency="" if part.shop is None else part.shop.currency,
        )
    return echo


def newest_echo(intent: Intent) -> Echo | None:
    """Return the newest echo of an intent's own object; None if there is none.

    By the order in which they were kept: a clock that steps back makes no echo older.
    """
    return Echo.objects.filter(external_object__intent=intent).order_by("-pk").first()


def newest_parts(intent: Intent) -> tuple[Part, ...]:
    """Return the parts of that echo; empty if there is none."""
    echo = newest_echo(intent)
    return () if echo is None else _parts_of(echo)


def last_final_parts(intent: Intent) -> tuple[Part, ...]:
    """Return each part as it was when it was last final: a success may waver before it fails."""
    rows = EchoPart.objects.filter(echo__external_object__intent=intent).order_by("pk")
    final = (part for part in _as_parts(rows) if part.standing is not Standing.OPEN)
    return tuple({part.identifier: part for part in final}.values())


def says_the_same(echo: Echo, observation: Observation) -> bool:
    """Say whether an observation brings nothing that an echo hasn't got."""
    return (_parts_of(echo), echo.target_identifier, echo.marker) == (
        observation.parts,
        observation.target or "",
        _sole_marker(observation),
    )


def _parts_of(echo: Echo) -> tuple[Part, ...]:
    return tuple(_as_parts(echo.parts.order_by("pk")))


def _as_parts(rows: Iterable[EchoPart]) -> Iterable[Part]:
    for part in rows:
        yield Part(
            identifier=part.identifier,
            status=part.status,
            standing=Standing(part.standing),
            money=Money(amount=part.amount, currency=part.currency),
            gateway=part.gateway,
            parent=part.parent or None,
            shop=None
            if part.shop_amount is None
            else Money(amount=part.shop_amount, currency=part.shop_currency),
        )


def _sole_marker(observation: Observation) -> str:
    return observation.markers[0] if len(observation.markers) == 1 else ""
