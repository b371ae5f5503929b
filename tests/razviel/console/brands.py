"""A brand whose every word can be told from any other's, and those who may or may not see it.

Promises: a Brand has a ticket with sealed words and an intent in each wanted state; `secrets` are
the texts that no stranger's page may hold. Does not know pages.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from actions.console.deeds import DEEDS
from actions.models import ExternalObject, Intent
from actions.states import State
from integrations import sealed
from integrations.clock import now
from integrations.models import Connection, Membership, Role, SubjectKey, Workspace
from tests.factories import intent_in, make_connection, make_request, make_ticket, make_workspace
from tests.factories.rows import make_customer
from tickets.models import Direction, Ticket
from tickets.services import record_message

_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A workspace full of words of its own."""

    word: str
    workspace: Workspace
    connection: Connection
    ticket: Ticket
    subject_key: SubjectKey
    intents: dict[State, Intent]

    @property
    def secrets(self) -> list[str]:
        """Return what stands on its pages and on nobody else's."""
        objects = ExternalObject.objects.filter(workspace=self.workspace)
        return [
            self.word,
            self.workspace.public_id,
            self.ticket.public_id,
            self.connection.public_id,
            *(intent.public_id for intent in self.intents.values()),
            *(intent.target.identifier for intent in self.intents.values()),
            *(intent.marker for intent in self.intents.values()),
            *objects.values_list("identifier", flat=True),
        ]


def make_brand(*, states: Iterable[State] = (State.CONFIRMED, State.UNKNOWN)) -> Brand:
    """Make a brand with a ticket, its sealed words, and an intent in each of these states."""
    word = f"brandword{next(_numbers)}x"
    workspace = make_workspace(slug=word, name=f"Name {word}")
    connection = make_connection(workspace=workspace, domain=f"{word}.myshopify.com")
    customer = make_customer(workspace=workspace)
    key = customer.subject_key
    ticket = make_ticket(
        workspace=workspace,
        customer=customer,
        external_id=f"case-{word}",
        subject=sealed.seal(subject_key=key, field="ticket.subject", text=f"Subject {word}"),
    )
    text = sealed.seal(subject_key=key, field="request.text", text=f"Request {word}")
    request = make_request(ticket=ticket, text=text)
    record_message(
        ticket=ticket,
        external_id=f"message-{word}",
        direction=Direction.FROM_CUSTOMER,
        body=f"Message {word}",
        sent_at=now(),
    )
    intents = {
        state: intent_in(
            state,
            ticket=ticket,
            request=request,
            connection=connection,
            reason=sealed.seal(subject_key=key, field="intent.reason", text=f"Reason {word}"),
        )
        for state in states
    }
    return Brand(
        word=word,
        workspace=workspace,
        connection=connection,
        ticket=ticket,
        subject_key=key,
        intents=intents,
    )


def make_user(**columns: object) -> User:
    """Make an account that belongs to no workspace."""
    return User.objects.create(username=f"user-{next(_numbers)}", **columns)


def logged_in(user: User) -> Client:
    """Return a browser in which a person has logged in."""
    client = Client()
    client.force_login(user)
    return client


def member_of(*workspaces: Workspace, role: Role = Role.HUMAN_NODE, **columns: object) -> Client:
    """Return a browser of a new member of these workspaces."""
    user = make_user(**columns)
    for workspace in workspaces:
        Membership.objects.create(workspace=workspace, user=user, role=role)
    return logged_in(user)


def sat_down(workspace: Workspace, username: str, role: Role) -> Client:
    """Return a browser of a member with a name and a role of their own."""
    user, _ = User.objects.get_or_create(username=username)
    Membership.objects.create(workspace=workspace, user=user, role=role)
    return logged_in(user)


def routes() -> dict[str, URLPattern]:
    """Return every address of the Console as the address table has it, by name."""
    (console,) = [
        entry
        for entry in get_resolver().url_patterns
        if isinstance(entry, URLResolver) and entry.namespace == "console"
    ]
    return {str(pattern.name): pattern for pattern in _patterns(console)}


def _patterns(resolver: URLResolver) -> list[URLPattern]:
    found: list[URLPattern] = []
    for entry in resolver.url_patterns:
        found += _patterns(entry) if isinstance(entry, URLResolver) else [entry]
    return found


def addresses_of(brand: Brand) -> dict[str, str]:
    """Return every address of the Console, those of objects with a brand's own.

    Raises:
        KeyError: The address table has a page that takes something unknown here: say what.
    """
    intent, ticket = brand.intents[State.CONFIRMED].public_id, brand.ticket.public_id
    objects = {
        "tickets_ticket_change": [ticket],
        "tickets_ticket_preview": [ticket],
        "tickets_ticket_propose": [ticket],
        "actions_intent_change": [intent],
        **{f"actions_intent_{deed}": [intent] for deed in DEEDS},
        "policy": [brand.workspace.public_id],
        "app_list": ["actions"],
    }
    return {
        name: reverse(f"console:{name}", args=objects[name] if _takes_something(pattern) else [])
        for name, pattern in routes().items()
    }


def _takes_something(pattern: URLPattern) -> bool:
    return bool(pattern.pattern.converters or pattern.pattern.regex.groups)


def page_of(row: Intent | Ticket) -> str:
    """Return the address of a row's page."""
    name = "actions_intent_change" if isinstance(row, Intent) else "tickets_ticket_change"
    return reverse(f"console:{name}", args=[row.public_id])
