"""Every document, against Shopify's own schema: the pruned one, and each full one that is given."""

import gzip
import json
import os
from pathlib import Path

import pytest
from graphql import (
    FieldNode,
    GraphQLSchema,
    Node,
    OperationDefinitionNode,
    VariableNode,
    build_client_schema,
    build_schema,
    parse,
    validate,
)

from integrations.platforms.shopify import documents
from integrations.platforms.shopify.documents import API_VERSION, DOCUMENTS, FILE
from integrations.platforms.shopify.order_reading import (
    PARTS_FIRST,
    PARTS_MAX,
    REFUNDS_BATCH,
    REFUNDS_FIRST,
)

PRUNED = FILE.with_name("schema.graphql")


def full_schemas() -> list[Path]:
    """The introspection results in the folder that the environment names, if it names one."""
    folder = os.environ.get("RAZVIEL_SHOPIFY_SCHEMAS", "")
    return sorted(Path(folder).glob("*.json.gz")) if folder else []


def schema_of(path: Path) -> GraphQLSchema:
    if path == PRUNED:
        return build_schema(path.read_text(encoding="utf-8"))
    with gzip.open(path) as stream:
        # Shopify's own schema breaks a rule about deprecation that does not matter to a query.
        return build_client_schema(json.load(stream)["data"], assume_valid=True)


@pytest.fixture(scope="module", params=[PRUNED, *full_schemas()], ids=lambda path: path.name)
def schema(request: pytest.FixtureRequest) -> GraphQLSchema:
    return schema_of(request.param)


def test_every_document_is_valid(schema: GraphQLSchema) -> None:
    problems = {
        name: [problem.message for problem in validate(schema, parse(document.text))]
        for name, document in DOCUMENTS.items()
    }
    assert problems == {
        "Identify": [],
        "ReadOrder": [],
        "ReadAgreements": [],
        "ReadLines": [],
        "ListRefunds": [],
        "ReadRefunds": [],
        "RefundCreate": [],
    }


def test_a_field_that_is_not_there_is_found(schema: GraphQLSchema) -> None:
    broken = DOCUMENTS["RefundCreate"].text.replace("message", "code")
    problems = [problem.message for problem in validate(schema, parse(broken))]
    assert problems == ["Cannot query field 'code' on type 'UserError'."]


def test_each_document_is_one_operation_of_its_name() -> None:
    for name, document in DOCUMENTS.items():
        definitions = parse(document.text).definitions
        assert [type(one) for one in definitions] == [OperationDefinitionNode]
        assert definitions[0].name.value == name == document.name  # type: ignore[attr-defined]


def test_no_operation_of_the_file_is_overlooked() -> None:
    whole = parse(FILE.read_text(encoding="utf-8"))
    assert len(whole.definitions) == len(DOCUMENTS) == 7


COST_MAX = 1000
"""Points of one query: https://shopify.dev/docs/apps/build/apis/graphql-admin/rate-limits (read
2026-11-30); its parts are sized by `first`, and here every object counts as one, money too."""
ASKED = {
    "ReadOrder": {"refunds": REFUNDS_FIRST, "parts": PARTS_FIRST},
    "ReadRefunds": {"ids": REFUNDS_BATCH, "parts": PARTS_FIRST},
}


def worst(node: Node, sizes: dict[str, int]) -> int:
    """Count the objects that a field or fragment may be answered with."""
    selections = getattr(node, "selection_set", None)
    if selections is None:
        return 0
    inner = {
        getattr(getattr(one, "name", None), "value", ""): worst(one, sizes)
        for one in selections.selections
    }
    size = _size(node, sizes)
    if "nodes" in inner:
        # A connection: itself, and as many nodes as are asked for.
        return 1 + inner.pop("nodes") * size + sum(inner.values())
    return size * (isinstance(node, FieldNode) + sum(inner.values()))


def _size(node: Node, sizes: dict[str, int]) -> int:
    for argument in getattr(node, "arguments", None) or ():
        if argument.name.value in {"first", "ids"}:
            value = argument.value
            return sizes[value.name.value] if isinstance(value, VariableNode) else int(value.value)
    return 1


def cost(name: str, sizes: dict[str, int]) -> int:
    (operation,) = parse(DOCUMENTS[name].text).definitions
    return worst(operation, sizes)


def test_no_question_may_cost_more_than_one_query_may() -> None:
    costs = {name: cost(name, ASKED.get(name, {})) for name in DOCUMENTS}
    costs["one refund of many parts"] = cost("ReadRefunds", {"ids": 1, "parts": PARTS_MAX})
    assert {name: points for name, points in costs.items() if points > COST_MAX} == {}


def test_the_version_stands_in_one_place() -> None:
    folder = Path(documents.__file__).parent
    naming = [
        path.name
        for path in sorted(folder.glob("*.py"))
        if f'"{API_VERSION}"' in path.read_text(encoding="utf-8")
    ]
    assert naming == ["documents.py"]
