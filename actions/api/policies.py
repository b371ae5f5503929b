"""The endpoints of a workspace's policy: read it, its form and its history, and put another.

Promises: only the brand's own token puts one; versions are only added, each with its author and
what it changed; what the old limits held is judged again.
Does not know the rules: `actions.policy` reads them.
"""

from http import HTTPStatus

from django.db import transaction
from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from actions.api.bodies import PolicyBody, PolicyObject, PolicyVersionsQuery
from actions.dispatch import follow_policy
from actions.models import PolicyVersion
from actions.policies import (
    PolicyChange,
    StalePolicy,
    current_policy,
    policy_history,
    put_policy,
)
from actions.policy import InvalidPolicy, parse_policy, policy_schema
from integrations.actors import ActorKind
from integrations.api.documents import ActorOf, Document
from integrations.api.problems import INVALID_FIELDS, Problem, ProblemType
from integrations.api.schema import answers
from integrations.api.views import ApiView, one_moment
from integrations.clock import now

ONLY_THE_BRAND = ProblemType(
    name="only-the-brand",
    status=HTTPStatus.FORBIDDEN,
    title="Only the brand decides its policy",
    advice="Use a token of the brand's own team (brand_team).",
)
POLICY_MOVED_ON = ProblemType(
    name="policy-moved-on",
    status=HTTPStatus.CONFLICT,
    title="Another version is in force",
)


class PolicyDocument(Document):
    """A version of the policy, whole."""

    number = serializers.IntegerField()
    document = PolicyObject()
    author = ActorOf("author")
    created_at = serializers.DateTimeField()


class DifferenceDocument(Document):
    """One field that differs from the version before."""

    path = serializers.CharField(help_text="As kinds.refund.limits.EUR.cap.")
    old = serializers.CharField(allow_null=True, help_text="Null where it was added.")
    new = serializers.CharField(allow_null=True, help_text="Null where it was removed.")


class PolicyVersionDocument(Document):
    """A version in short: by whom, when, and what it changed."""

    number = serializers.IntegerField(source="version.number")
    author = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField(source="version.created_at")
    differences = DifferenceDocument(
        many=True, help_text="From the version before; none for the first."
    )

    @extend_schema_field(ActorOf("author"))
    def get_author(self, change: PolicyChange) -> object:
        """Return who decided it."""
        return ActorOf("author").to_representation(change.version)


class PolicyVersionsDocument(Document):
    """Some versions, newest first."""

    versions = PolicyVersionDocument(many=True)
    next = serializers.CharField(
        allow_null=True, help_text="The address of the next page; null on the last."
    )


class Policy(ApiView):
    """The policy that is in force."""

    @extend_schema(
        operation_id="show_policy",
        summary="Look the policy up that is in force",
        responses=answers({HTTPStatus.OK: PolicyDocument}, has_body=False),
    )
    def get(self, request: HttpRequest) -> Response:  # noqa: ARG002 - DRF's signature
        """Answer the newest version."""
        return self.document(PolicyDocument(current_policy(self.workspace).version).data)

    @extend_schema(
        operation_id="put_policy",
        summary="Put another policy in force",
        description=(
            "Only by a brand_team token. The whole document is given, and becomes a version of its "
            "own; where it changes nothing, the one in force is answered. With `based_on` it is "
            "refused where somebody else has put another version since."
        ),
        request=PolicyBody,
        responses=answers({HTTPStatus.OK: PolicyDocument}, problems=[HTTPStatus.CONFLICT]),
    )
    def put(self, request: HttpRequest) -> Response:  # noqa: ARG002 - read by self.body
        """Add a version, and have judged again what the old limits hold."""
        if self.actor.kind is not ActorKind.BRAND_TEAM:
            raise Problem(ONLY_THE_BRAND)
        said = self.body(PolicyBody)
        try:
            version = self._put(said["document"], based_on=said.get("based_on"))
        except StalePolicy as stale:
            members = {"number": stale.in_force}
            raise Problem(POLICY_MOVED_ON, detail=str(stale), members=members) from stale
        except InvalidPolicy as invalid:
            errors: dict[str, list[str]] = {}
            for path, sentence in invalid.found:
                errors.setdefault(f"document.{path}".rstrip("."), []).append(sentence)
            raise Problem(INVALID_FIELDS, errors=errors) from invalid
        return self.document(PolicyDocument(version).data)

    def _put(self, document: dict[str, object], *, based_on: int | None) -> PolicyVersion:
        policy = parse_policy(document)
        with transaction.atomic():
            version = put_policy(self.workspace, policy, author=self.actor, based_on=based_on)
            follow_policy(self.workspace, now=now())
        return version


class PolicySchema(ApiView):
    """The form of a policy."""

    @extend_schema(
        operation_id="show_policy_schema",
        summary="Look up which form a policy has",
        description="A JSON Schema (2020-12), for an editor's help.",
        responses={HTTPStatus.OK.value: OpenApiTypes.OBJECT, **answers({}, has_body=False)},
    )
    def get(self, request: HttpRequest) -> Response:  # noqa: ARG002 - DRF's signature
        """Answer the JSON Schema."""
        return self.document(policy_schema())


class PolicyVersions(ApiView):
    """The history of the policy."""

    query = PolicyVersionsQuery

    @extend_schema(
        operation_id="list_policy_versions",
        summary="List the versions of the policy, newest first",
        parameters=[PolicyVersionsQuery],
        responses=answers({HTTPStatus.OK: PolicyVersionsDocument}, has_body=False),
    )
    def get(self, request: HttpRequest) -> Response:
        """Answer one page, each version with what it changed."""
        limit = self.asked["limit"]
        with one_moment():
            page = policy_history(self.workspace, limit=limit, before=self.asked.get("before"))
            following = page.changes[-1].version.number if page.has_more else None
            shown = {
                "versions": page.changes,
                "next": following and _next_page(request, limit=limit, before=following),
            }
            return self.document(PolicyVersionsDocument(shown).data)


def _next_page(request: HttpRequest, *, limit: int, before: int) -> str:
    parameters = QueryDict(mutable=True)
    parameters.update({"limit": str(limit), "before": str(before)})
    return f"{request.path}?{parameters.urlencode()}"
