"""The addresses of the REST API, version 1.

Promises: each endpoint on a line of its own; whatever else stands under the prefix is answered with
a problem document, never redirected.
Does not know what the endpoints do.
"""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from actions.api import intents, tickets
from integrations.api import failures

urlpatterns = [
    path("tickets/", tickets.OpenTicket.as_view(), name="tickets"),
    path("tickets/<slug:ticket>/", tickets.ShowTicket.as_view(), name="ticket"),
    path("tickets/<slug:ticket>/requests/", tickets.StateRequest.as_view(), name="requests"),
    path("tickets/<slug:ticket>/intents/", intents.ProposeIntent.as_view(), name="proposals"),
    path("tickets/<slug:ticket>/close/", tickets.CloseTicket.as_view(), name="close"),
    path("tickets/<slug:ticket>/reopen/", tickets.ReopenTicket.as_view(), name="reopen"),
    path("intents/", intents.ListIntents.as_view(), name="intents"),
    path("intents/<slug:intent>/", intents.ShowIntent.as_view(), name="intent"),
    path("intents/<slug:intent>/withdraw/", intents.WithdrawIntent.as_view(), name="withdraw"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api:schema", template_name="api/docs.html"),
        name="docs",
    ),
    re_path("", failures.no_such_address),
]
