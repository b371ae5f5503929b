"""The pruned schema is Shopify's own, all of it is answered, and production cannot reach it."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLObjectType,
    get_named_type,
    is_interface_type,
    is_leaf_type,
    parse,
    validate,
    validate_schema,
)

from integrations.platforms.shopify.prune_schema import SCHEMA_FILE, load, prune, signatures
from integrations.sandbox.records import Payment
from integrations.sandbox.shopify.schema import load_schema
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import READ, REFUND, ask, refund

ROOT = Path(__file__).parents[3]
DOCUMENTS = SCHEMA_FILE.parent / "documents.graphql"


def full_schemas() -> list[Path]:
    """The full schemas at hand: none on a machine that has not been given a folder of them."""
    folder = os.environ.get("RAZVIEL_SHOPIFY_SCHEMAS")
    return sorted(Path(folder).glob("admin_*.json.gz")) if folder else []


def kept_signatures() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, kind in load_schema().type_map.items():
        if name.startswith("__") or not hasattr(kind, "fields"):
            continue
        for member, field in kind.fields.items():
            found[f"{name}.{member}"] = _signature(field)
    return found


def _signature(field: Any) -> str:
    arguments = sorted(f"{name}: {item.type}" for name, item in getattr(field, "args", {}).items())
    return (f"({', '.join(arguments)})" if arguments else "") + f": {field.type}"


def _without_defaults(signature: str) -> str:
    head, bracket, kind = signature.rpartition(")")
    if not bracket:
        return signature
    arguments = [item.partition(" = ")[0] for item in head[1:].split(", ")]
    return f"({', '.join(arguments)})" + kind


def test_the_pruned_schema_is_sound() -> None:
    assert validate_schema(load_schema()) == []


def test_the_documents_of_the_product_are_valid_against_the_pruned_schema() -> None:
    assert validate(load_schema(), parse(DOCUMENTS.read_text())) == []
    for document in (REFUND, READ):
        assert validate(load_schema(), parse(document)) == []


def test_the_pruned_schema_is_what_the_script_makes_of_shopifys() -> None:
    for path in full_schemas():
        if "2026-10" in path.name:
            made = prune(load(path), documents=DOCUMENTS.read_text())
            assert made == SCHEMA_FILE.read_text()


def test_what_is_kept_stands_alike_in_every_version_at_hand() -> None:
    kept = kept_signatures()
    assert len(kept) > 180
    for path in full_schemas():
        theirs = {name: _without_defaults(text) for name, text in signatures(load(path)).items()}
        assert {name: theirs.get(name) for name in kept} == kept, path.name


def test_the_notice_of_the_schemas_licence_stands_beside_it() -> None:
    notice = (SCHEMA_FILE.parent / "schema.LICENSE").read_text()
    assert "ISC License" in notice
    assert "Copyright 2025-present, Shopify Inc." in notice


def test_every_field_of_the_pruned_schema_is_answered(shop: ShopControls) -> None:
    """Walk the whole schema from each root, two objects deep behind every list and object."""
    shop.gateway("slow", answers="FAILURE", error_code="CARD_DECLINED")
    payments = [Payment(amount="60.00", gateway="card"), Payment(amount="40.00", gateway="slow")]
    order = shop.order(total="100.00", payments=payments, shipping="5.00")
    line = {"lineItemId": order.lines[0], "quantity": 1}
    made = refund(shop, order, "5.00", refundLineItems=[line]).payload["refund"]["id"]
    shop.open_dispute(order.id)
    roots = {
        f'order(id: "{order.id}")': "Order",
        f'refund(id: "{made}")': "Refund",
        "shop": "Shop",
        "currentAppInstallation": "AppInstallation",
    }
    shop.throttle(unlimited=True)
    asked: set[str] = set()
    for root, name in roots.items():
        selection = _select(load_schema().type_map[name], depth=4, asked=asked)
        answer = ask(shop, f"{{ {root} {selection} }}").json
        denied = {error["extensions"]["code"] for error in answer.get("errors", [])}
        assert denied <= {"ACCESS_DENIED"}
        assert answer["data"][root.partition("(")[0]] is not None
    left = set(kept_signatures()) - asked - _not_read(asked)
    assert left == set()


def _select(kind: Any, *, depth: int, asked: set[str]) -> str:
    if is_interface_type(kind):
        inner = [
            f"... on {item.name} {_select(item, depth=depth, asked=asked)}"
            for item in load_schema().get_possible_types(kind)
        ]
        shared = [_field(kind, name, item, depth, asked) for name, item in kind.fields.items()]
        return "{ __typename " + " ".join([*inner, *filter(None, shared)]) + " }"
    fields = [_field(kind, name, item, depth, asked) for name, item in kind.fields.items()]
    return "{ __typename " + " ".join(filter(None, fields)) + " }"


def _field(kind: Any, name: str, field: GraphQLField, depth: int, asked: set[str]) -> str | None:
    inner = get_named_type(field.type)
    arguments = "(first: 5)" if "first" in field.args else ""
    # The staff member's own fields can't be seen: the field itself is always denied.
    if is_leaf_type(inner):
        asked.add(f"{kind.name}.{name}")
        return name + arguments
    if depth == 0:
        return None
    asked.add(f"{kind.name}.{name}")
    return f"{name}{arguments} {_select(inner, depth=depth - 1, asked=asked)}"


def _not_read(asked: set[str]) -> set[str]:
    """Roots, inputs, the mutation's payload and the bare interface: met by other tests."""
    schema = load_schema()
    read = {"QueryRoot", "Mutation", "Node", "DisplayableError", "UserError", "RefundCreatePayload"}
    inputs = {n for n, t in schema.type_map.items() if not isinstance(t, GraphQLObjectType)}
    owners = read | {n for n in inputs if not is_interface_type(schema.type_map[n])}
    return {name for name in kept_signatures() if name.partition(".")[0] in owners}


def test_production_code_cannot_reach_the_sandbox() -> None:
    importers = {
        str(path.relative_to(ROOT))
        for folder in ("actions", "integrations", "razviel", "tickets")
        for path in (ROOT / folder).rglob("*.py")
        if any(name.startswith("integrations.sandbox") for name in _imported(path))
        and (ROOT / "integrations" / "sandbox") not in path.parents
    }
    # Commands that a person starts by name; nothing else imports a command.
    by_name = {"commands", "demo", "bench"}
    assert {name for name in importers if not by_name & set(Path(name).parts)} == set()


def test_the_sandbox_knows_nothing_of_the_product() -> None:
    for path in (ROOT / "integrations" / "sandbox").rglob("*.py"):
        for name in _imported(path):
            foreign = name.split(".")[0] in {"actions", "tickets", "razviel", "django", "requests"}
            inside = name.startswith("integrations") and not name.startswith("integrations.sandbox")
            assert not foreign, (path, name)
            assert not inside, (path, name)


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names
