"""What the Console's forms share: a refusal by role, and the way back after a word was taken.

Promises: after a form the page is fetched anew, so that what is shown is what stands then and
reloading it sends nothing; the way back is one of a closed list, never an address that was sent.
Does not know the deeds.
"""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from actions.console.refusals import said_of
from actions.console.seats import Deed, who_may
from actions.models import Intent
from integrations.admin import page_address

_LISTS = {"approvals": "console:approvals"}


def may_not(request: HttpRequest, context: Mapping[str, Any], deed: Deed) -> HttpResponse:
    """Say that a role does not allow a deed, and whose does; nothing was done."""
    sentence = who_may(deed)
    whole = {**context, "title": "Not with your role", "sentence": sentence}
    return TemplateResponse(request, "console/may_not.html", whole, status=403)


def told(request: HttpRequest, sentence: str) -> None:
    """Leave the sentence for the next page: what is so, never that an action is done."""
    messages.info(request, sentence)


def refused(request: HttpRequest, refusal: Exception, intent: Intent) -> None:
    """Leave the sentence of a refusal for the next page."""
    messages.warning(request, f"{said_of(refusal)} Nothing was changed. ({intent.public_id})")


def back(request: HttpRequest, intent: Intent) -> HttpResponse:
    """Lead to the list that the form stood on, or to the intent."""
    listed = _LISTS.get(request.POST.get("back", ""))
    return HttpResponseRedirect(reverse(listed) if listed else page_address(intent))
