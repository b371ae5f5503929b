"""The OpenAPI document: committed, what the code says, shown without anyone else's server."""

import json

import pytest
import yaml
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema

from tests.caller import OPENAPI, openapi

OPERATIONS = {
    ("post", "/api/v1/tickets/"): "open_ticket",
    ("get", "/api/v1/tickets/{ticket}/"): "show_ticket",
    ("post", "/api/v1/tickets/{ticket}/requests/"): "state_request",
    ("post", "/api/v1/tickets/{ticket}/intents/"): "propose_intent",
    ("post", "/api/v1/tickets/{ticket}/close/"): "close_ticket",
    ("post", "/api/v1/tickets/{ticket}/reopen/"): "reopen_ticket",
    ("get", "/api/v1/intents/"): "list_intents",
    ("get", "/api/v1/intents/{intent}/"): "show_intent",
    ("post", "/api/v1/intents/{intent}/withdraw/"): "withdraw_intent",
    ("post", "/api/v1/intents/{intent}/approve/"): "approve_intent",
    ("post", "/api/v1/intents/{intent}/reject/"): "reject_intent",
    ("post", "/api/v1/intents/{intent}/clear/"): "clear_intent",
    ("post", "/api/v1/intents/{intent}/judge-again/"): "judge_again",
    ("post", "/api/v1/intents/{intent}/accept/"): "accept_intent",
    ("get", "/api/v1/policy/"): "show_policy",
    ("put", "/api/v1/policy/"): "put_policy",
    ("get", "/api/v1/policy/schema/"): "show_policy_schema",
    ("get", "/api/v1/policy/versions/"): "list_policy_versions",
}


def generated() -> bytes:
    """Return the document as `manage.py spectacular --file docs/openapi.yaml` writes it."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # spectacular has no types here
    return bytes(OpenApiYamlRenderer().render(schema, renderer_context={}))  # type: ignore[no-untyped-call]  # nor here


def test_the_committed_document_is_what_the_code_says() -> None:
    assert OPENAPI.read_bytes() == generated()


def test_it_is_valid_and_names_every_operation() -> None:
    document = openapi()
    validate_schema(document)  # type: ignore[no-untyped-call]  # nor here
    found = {
        (method, path): operation["operationId"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert found == OPERATIONS
    assert document["openapi"] == "3.1.0"


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_operation_wants_a_token_and_names_its_failures(method: str, path: str) -> None:
    operation = openapi()["paths"][path][method]
    assert operation["security"] == [{"token": []}]
    failing = {
        status
        for status, answer in operation["responses"].items()
        if "application/problem+json" in answer["content"]
    }
    expected = {"400", "401", "403", "406", "500", "503"}
    expected |= {"411", "413", "415"} if method != "get" else set()
    expected |= {"404"} if "{" in path else set()
    expected |= {"409"} if method != "get" else set()
    assert failing == expected


def test_the_schema_and_its_page_need_no_token_and_no_other_server(db: None) -> None:
    client = Client()
    served = client.get("/api/v1/schema/")
    assert served.status_code == 200
    assert yaml.safe_load(served.content) == json.loads(json.dumps(openapi()))
    page = client.get("/api/v1/docs/")
    assert page.status_code == 200
    assert b"/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js" in page.content
    assert b"http://" not in page.content
    assert b"https://" not in page.content
    script = client.get("/api/v1/docs/", {"script": ""})
    assert script.status_code == 200
    assert b"/api/v1/schema/" in script.content
