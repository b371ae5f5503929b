"""The addresses of the REST API, version 1.

Promises: each endpoint on a line of its own; whatever else stands under the prefix is answered with
a problem document, never redirected.
Does not know what the endpoints do.
"""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from actions.api import intents, policies, proposing, tickets, words
from integrations.api import failures

urlpatterns = [
    path("tickets/", tickets.OpenTicket.as_view(), name="tickets"),
    path("tickets/<slug:ticket>/", tickets.ShowTicket.as_view(), name="ticket"),
    path("tickets/<slug:ticket>/requests/", tickets.StateRequest.as_view(), name="requests"),
    path("tickets/<slug:ticket>/intents/", proposing.ProposeIntent.as_view(), name="proposals"),
    path("tickets/<slug:ticket>/close/", tickets.CloseTicket.as_view(), name="close"),
    path("tickets/<slug:ticket>/reopen/", tickets.ReopenTicket.as_view(), name="reopen"),
    path("intents/", intents.ListIntents.as_view(), name="intents"),
    path("intents/<slug:intent>/", intents.ShowIntent.as_view(), name="intent"),
    path("intents/<slug:intent>/withdraw/", intents.WithdrawIntent.as_view(), name="withdraw"),
    path("intents/<slug:intent>/approve/", words.ApproveIntent.as_view(), name="approve"),
    path("intents/<slug:intent>/reject/", words.RejectIntent.as_view(), name="reject"),
    path("intents/<slug:intent>/clear/", words.ClearIntent.as_view(), name="clear"),
    path("intents/<slug:intent>/judge-again/", words.JudgeAgain.as_view(), name="judge-again"),
    path("intents/<slug:intent>/accept/", words.AcceptIntent.as_view(), name="accept"),
    path("policy/", policies.Policy.as_view(), name="policy"),
    path("policy/schema/", policies.PolicySchema.as_view(), name="policy-schema"),
    path("policy/versions/", policies.PolicyVersions.as_view(), name="policy-versions"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api:schema", template_name="api/docs.html"),
        name="docs",
    ),
    re_path("", failures.no_such_address),
]
