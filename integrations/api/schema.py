"""The OpenAPI document: what drf-spectacular can't see by itself.

Promises: every endpoint names its problem documents; the security scheme is the bearer token.
Does not know the endpoints.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import serializers

from integrations.api.documents import Document
from integrations.api.problems import MEDIA_TYPE


class ProblemDocument(Document):
    """A failure (RFC 9457): what is so and what to do. Some kinds add members of their own."""

    type = serializers.CharField(help_text="The kind of failure; never renamed.")
    title = serializers.CharField(help_text="The kind of failure, for people.")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What is so and what to do.")
    instance = serializers.CharField(help_text="The address that was asked.")
    errors = serializers.DictField(  # type: ignore[assignment]  # a field, not what validating finds
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="Sentences by field; dots lead into objects.",
    )


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself, in untyped code
    """The bearer token, for the OpenAPI document."""

    target_class = "integrations.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:  # noqa: ARG002 - spectacular's signature
        """Return the scheme."""
        return {"type": "http", "scheme": "bearer"}


Responses = dict[Any, Any]

ALWAYS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_ACCEPTABLE,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""What every endpoint can answer."""

WITH_BODY = (
    HTTPStatus.LENGTH_REQUIRED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
"""What every endpoint that takes a body can answer."""


def answers(
    documents: Mapping[HTTPStatus, type[serializers.Serializer[Any]]],
    *,
    problems: Sequence[HTTPStatus] = (),
    has_body: bool = True,
) -> Responses:
    """Return an endpoint's answers: its documents, and a problem document for each way to fail."""
    failing = {HTTPStatus.BAD_REQUEST, *ALWAYS, *problems, *(WITH_BODY if has_body else ())}
    return {status.value: document for status, document in documents.items()} | {
        (status.value, MEDIA_TYPE): ProblemDocument for status in sorted(failing)
    }
