"""Sends a form of the Console as a browser does: with the hidden fields that stand in it.

Promises: what is sent is what the page holds, so that a form without its digest fails its test.
Does not know what a form is for.
"""

from html.parser import HTMLParser

from django.test import Client

from actions.models import Intent
from tests.razviel.console.brands import page_of


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[str, dict[str, str]] = {}
        self._open: dict[str, str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = self.forms.setdefault(named.get("action", ""), {})
        elif self._open is not None and tag == "input" and named.get("type") == "hidden":
            self._open[named["name"]] = named.get("value", "")
        elif self._open is not None and "formaction" in named:
            self.forms[named["formaction"]] = self._open

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None


def forms_on(content: str) -> dict[str, dict[str, str]]:
    """Return the forms of a page with their hidden fields, by where they are sent."""
    parser = _Forms()
    parser.feed(content)
    return parser.forms


def form_for(client: Client, intent: Intent, verb: str) -> dict[str, str] | None:
    """Return the hidden fields of one form of an intent's page; None where it isn't offered."""
    return forms_on(client.get(page_of(intent)).content.decode()).get(f"{page_of(intent)}{verb}/")


def send(client: Client, intent: Intent, verb: str, **typed: str) -> str:
    """Fill in a form of an intent's page, send it, and return the page that follows."""
    form = form_for(client, intent, verb)
    assert form is not None, f"the page offers no {verb}"
    return post(client, intent, verb, **{**form, **typed})


def post(client: Client, intent: Intent, verb: str, **fields: str) -> str:
    """Send a form as it is, whatever the page offers; return the page that follows."""
    answer = client.post(f"{page_of(intent)}{verb}/", fields, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()
