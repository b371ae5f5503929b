"""The form that a person tries a wish with, and makes it: on a ticket, to correct, or for the rest.

Promises: nothing is decided here about what may be asked: the kind reads its own parameters and
says each field's sentence; what follows another intent follows one of the same ticket. Trying
records nothing.
Does not judge: `actions.services` does.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.http import Http404
from django.utils.datastructures import MultiValueDict

from actions.catalogue import KINDS, InvalidParameters
from actions.console.deeds import WORDS_LENGTH_MAX
from actions.console.endings import rest_of
from actions.models import Intent
from actions.services import Wish
from integrations.models import Connection, Platform
from integrations.money import Money
from tickets.models import Request, Ticket

_NUMBER = re.compile(r"[1-9][0-9]{0,19}")
_BASIS = ("shipping", "lines", "duties")
"""What a wish may say of what it is for, beside its amount."""
_LIST_EXAMPLES = {
    "lines": '[{"line": "gid://shopify/LineItem/1001", "quantity": 1, "restock": "return"}]',
    "duties": '[{"duty": "gid://shopify/Duty/1001", "share": "full"}]',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What a new wish follows, of the same ticket."""

    corrects: Intent | None = None
    remainder_of: Intent | None = None

    @property
    def followed(self) -> Intent | None:
        """Return the intent that it follows."""
        return self.corrects or self.remainder_of


def links_of(ticket: Ticket, named: Mapping[str, Any]) -> Links:
    """Return what a form or an address says that a wish follows.

    Raises:
        Http404: The ticket has no such intent.
    """
    return Links(
        corrects=_of_ticket(ticket, str(named.get("corrects", ""))),
        remainder_of=_of_ticket(ticket, str(named.get("remainder_of", ""))),
    )


def _of_ticket(ticket: Ticket, public_id: str) -> Intent | None:
    if not public_id:
        return None
    rows = ticket.intent_set.select_related("ticket", "connection", "request", "target")
    found = rows.filter(public_id=public_id.replace("\0", "")).first()
    if found is None:
        raise Http404
    return found


class _Requests(forms.ModelChoiceField):  # type: ignore[type-arg]  # not subscriptable at run time
    """One of the ticket's requests, in words."""

    def label_from_instance(self, obj: Request) -> str:
        """Write its number and what it asks for."""
        money = f" of {Money(amount=obj.amount, currency=obj.currency)}" if obj.amount else ""
        return f"{obj.number}. {obj.kind.replace('_', ' ')}{money}"


class ProposalForm(forms.Form):
    """One action that is wanted, with its parameters as a person writes them."""

    request = _Requests(
        queryset=Request.objects.none(),
        to_field_name="public_id",
        empty_label=None,
        label="For which request",
        error_messages={
            "invalid_choice": "This ticket has no such request.",
            "required": "State first what the customer asks for: every action serves a request.",
        },
    )
    kind = forms.ChoiceField(
        choices=[(name, name.replace("_", " ")) for name in KINDS], label="What to do"
    )
    connection = forms.ModelChoiceField(
        queryset=Connection.objects.none(),
        to_field_name="public_id",
        empty_label=None,
        label="At which store",
        error_messages={
            "invalid_choice": "There is no such store.",
            "required": "Connect a store first: manage.py connect shopify.",
        },
    )
    order = forms.CharField(
        max_length=100,
        label="Order",
        help_text="Its full identifier, as gid://shopify/Order/1001, or the number in it.",
    )
    amount = forms.CharField(
        max_length=40,
        label="Amount",
        help_text="Plain digits with one point, as 12.50.",
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    currency = forms.CharField(
        max_length=3, label="Currency", help_text="In which the customer paid, as EUR."
    )
    shipping = forms.CharField(
        max_length=40,
        required=False,
        label="Of it for shipping",
        help_text="How much of the amount is shipping.",
    )
    lines = forms.CharField(
        max_length=50_000,
        required=False,
        label="For which items",
        help_text=f"A list in JSON, as {_LIST_EXAMPLES['lines']}.",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
    )
    duties = forms.CharField(
        max_length=50_000,
        required=False,
        label="For which duties",
        help_text=f"A list in JSON, as {_LIST_EXAMPLES['duties']}.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    reason = forms.CharField(
        max_length=WORDS_LENGTH_MAX,
        required=False,
        label="Why",
        help_text="In your own words; sealed with the customer's own key.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    corrects = forms.CharField(required=False, widget=forms.HiddenInput)
    remainder_of = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        ticket: Ticket,
        *,
        data: MultiValueDict[str, Any] | None = None,
        initial: Mapping[str, object] | None = None,
        auto_id: str = "id_%s",
    ) -> None:
        super().__init__(data, initial=dict(initial or {}), auto_id=auto_id)
        self._ticket = ticket
        stores = Connection.objects.filter(
            workspace=ticket.workspace_id, platform=Platform.SHOPIFY
        ).defer("credentials", "webhook_secret")
        _offer(self.fields["request"], ticket.request_set.order_by("-number"))
        _offer(self.fields["connection"], stores.order_by("is_sandbox", "domain"))

    def clean_order(self) -> str:
        """Take a bare number for the order that has it."""
        order = str(self.cleaned_data["order"]).strip()
        return f"gid://shopify/Order/{order}" if _NUMBER.fullmatch(order) else order

    def clean_lines(self) -> list[object]:
        """Read the list of lines."""
        return self._list("lines")

    def clean_duties(self) -> list[object]:
        """Read the list of duties."""
        return self._list("duties")

    def _list(self, name: str) -> list[object]:
        written = str(self.cleaned_data[name]).strip()
        try:
            given = json.loads(written) if written else []
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, list):
            raise forms.ValidationError(f"It must be a list in JSON, as {_LIST_EXAMPLES[name]}.")
        return given

    def clean(self) -> dict[str, Any]:
        """Have the kind read its own parameters, and put each sentence to its field."""
        said = dict(self.cleaned_data)
        if not self.errors:
            try:
                KINDS[said["kind"]].parse(self.parameters())
            except InvalidParameters as invalid:
                self._tell(invalid)
        return said

    def _tell(self, invalid: InvalidParameters) -> None:
        for path, sentence in invalid.sentences.items():
            name, _, within = path.partition(".")
            self.add_error(
                name if name in self.fields else None,
                f"{within}: {sentence}" if within else sentence,
            )

    def main_fields(self) -> list[forms.BoundField]:
        """Return what every wish says."""
        return [field for field in self.visible_fields() if field.name not in _BASIS]

    def basis_fields(self) -> list[forms.BoundField]:
        """Return what a wish may say of what it is for."""
        return [field for field in self.visible_fields() if field.name in _BASIS]

    def has_basis(self) -> bool:
        """Say whether what it is for is filled in, or wrong."""
        return any(field.value() or field.errors for field in self.basis_fields())

    def parameters(self) -> dict[str, object]:
        """Return the kind's parameters; what stays empty has no name."""
        return dict(self._given())

    def _given(self) -> Iterator[tuple[str, object]]:
        said = self.cleaned_data
        yield "order", said["order"]
        yield "currency", said["currency"].strip().upper()
        yield "amount", said["amount"].strip()
        for name in _BASIS:
            if said[name]:
                yield name, said[name]

    def wish(self, links: Links) -> Wish:
        """Return what is wanted, as the services take it."""
        said = self.cleaned_data
        return Wish(
            kind=said["kind"],
            request=said["request"],
            parameters=self.parameters(),
            reason=said["reason"].strip(),
            connection=said["connection"],
            corrects=links.corrects,
            remainder_of=links.remainder_of,
        )


def _offer(field: forms.Field, rows: Any) -> None:
    if isinstance(field, forms.ModelChoiceField):
        field.queryset = rows


def initial_for(ticket: Ticket, links: Links) -> dict[str, object]:
    """Return what a form begins with: what is followed, or what the customer asked for."""
    followed = links.followed
    if followed is not None:
        return _following(followed, links)
    asked = ticket.request_set.order_by("-number").first()
    if asked is None:
        return {"order": ticket.order_reference}
    return {
        "request": asked.public_id,
        "kind": asked.kind,
        "order": asked.target or ticket.order_reference,
        "amount": "" if asked.amount is None else _written(asked.amount, asked.currency),
        "currency": asked.currency,
    }


def _following(followed: Intent, links: Links) -> dict[str, object]:
    """Begin with what is followed; the rest of something is wanted by its amount alone."""
    given: dict[str, object] = {
        "request": followed.request.public_id,
        "kind": followed.kind,
        "connection": followed.connection.public_id,
        "order": followed.target.identifier,
        "currency": followed.currency,
    }
    if links.remainder_of is not None:
        rest = rest_of(followed)
        amount = rest.canonical() if rest else ""
        return given | {"remainder_of": followed.public_id, "amount": amount}
    basis = {
        name: json.dumps(value, ensure_ascii=False) if name in _LIST_EXAMPLES else value
        for name, value in followed.parameters.items()
        if name in _BASIS
    }
    amount = "" if followed.amount is None else _written(followed.amount, followed.currency)
    return given | basis | {"corrects": followed.public_id, "amount": amount}


def _written(amount: Decimal, currency: str) -> str:
    return Money(amount=amount, currency=currency).canonical()
