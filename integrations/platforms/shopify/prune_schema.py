"""Cut Shopify's full Admin schema down to `schema.graphql`, the types that Razviel speaks.

Run as `python -m integrations.platforms.shopify.prune_schema FOLDER` (or with
RAZVIEL_SHOPIFY_SCHEMAS set). Promises: what it keeps has the very types, arguments, inputs and enum
values of the full schema, and exists alike in every version found in the folder; the same input
gives the same bytes. Never used at run time.
"""

import gzip
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    parse,
)

from integrations.platforms.shopify.documents import API_VERSION

# An introspection result is JSON of a known shape; typing each level would hide what is read.
Json: TypeAlias = dict[str, Any]
Kept: TypeAlias = dict[str, set[str]]

HERE = Path(__file__).parent
SCHEMA_FILE = HERE / "schema.graphql"

# What the product and its sandbox need beyond what the documents select today.
ALWAYS_KEPT: Mapping[str, str] = {
    "QueryRoot": "order node nodes refund shop currentAppInstallation",
    "Mutation": "refundCreate",
    "Node": "id",
    "Order": "id name legacyResourceId createdAt updatedAt processedAt cancelledAt cancelReason "
    "test email note customer currencyCode presentmentCurrencyCode displayFinancialStatus "
    "displayFulfillmentStatus fullyPaid unpaid totalPriceSet currentTotalPriceSet "
    "totalReceivedSet totalRefundedSet totalRefundedShippingSet netPaymentSet "
    "totalOutstandingSet refundable refundDiscrepancySet suggestedRefund transactions refunds "
    "agreements disputes lineItems paymentGatewayNames",
    "Customer": "id legacyResourceId displayName defaultEmailAddress email",
    "CustomerEmailAddress": "emailAddress",
    "LineItem": "id title name sku quantity currentQuantity refundableQuantity "
    "originalUnitPriceSet duties",
    "Duty": "id price",
    "LineItemConnection": "nodes edges pageInfo",
    "LineItemEdge": "cursor node",
    "MoneyBag": "shopMoney presentmentMoney",
    "MoneyV2": "amount currencyCode",
    "Refund": "id legacyResourceId note createdAt processedAt updatedAt order totalRefundedSet "
    "transactions refundLineItems duties staffMember",
    "RefundDuty": "amountSet originalDuty",
    "RefundLineItem": "id lineItem quantity restockType",
    "RefundLineItemConnection": "nodes edges pageInfo",
    "RefundLineItemEdge": "cursor node",
    "StaffMember": "id name",
    "OrderTransaction": "id kind status gateway formattedGateway amountSet parentTransaction "
    "errorCode createdAt processedAt paymentId test manualPaymentGateway order",
    "OrderTransactionConnection": "nodes edges pageInfo",
    "OrderTransactionEdge": "cursor node",
    "PageInfo": "hasNextPage hasPreviousPage startCursor endCursor",
    "SuggestedRefund": "amountSet maximumRefundableSet subtotalSet totalTaxSet shipping "
    "totalDutiesSet refundDuties suggestedTransactions suggestedRefundMethods",
    "ShippingRefund": "amountSet maximumRefundableSet taxSet",
    "SuggestedOrderTransaction": "gateway formattedGateway kind amountSet maximumRefundableSet "
    "parentTransaction",
    "SuggestedRefundMethod": "amount maximumRefundable",
    "SuggestedStoreCreditRefund": "amount maximumRefundable expiresAt",
    "SalesAgreement": "id app happenedAt reason user",
    "OrderAgreement": "id app happenedAt reason user order",
    "RefundAgreement": "id app happenedAt reason user refund",
    "SalesAgreementConnection": "nodes edges pageInfo",
    "SalesAgreementEdge": "cursor node",
    "OrderDisputeSummary": "id initiatedAs status",
    "Shop": "id name myshopifyDomain currencyCode email createdAt ianaTimezone",
    "AppInstallation": "id app accessScopes",
    "App": "id title handle",
    "AccessScope": "handle description",
    "RefundCreatePayload": "order refund userErrors",
    "UserError": "field message",
    "DisplayableError": "field message",
}
BUILT_IN = {"String", "Int", "Float", "Boolean", "ID"}


class SchemaDisagrees(Exception):
    """Something asked for is not in this version's schema. Change the selection, or the version."""


def load(path: Path) -> Json:
    """Read one gzipped introspection result."""
    with gzip.open(path) as stream:
        schema: Json = json.load(stream)["data"]["__schema"]
    return schema


def prune(schema: Json, *, documents: str = "") -> str:
    """Return the SDL of what `ALWAYS_KEPT` and `documents` need of `schema`.

    Raises:
        SchemaDisagrees: something asked for is not in this schema.
    """
    types = {item["name"]: item for item in schema["types"]}
    kept: Kept = {name: set(fields.split()) for name, fields in ALWAYS_KEPT.items()}
    if documents:
        _keep_selected(parse(documents), schema, types, kept)
    names = _closure(types, kept)
    blocks = [_print_root(schema), *_print_directives(schema)]
    blocks += [_print_type(types[name], kept, names) for name in sorted(names - BUILT_IN)]
    return "\n\n".join(blocks) + "\n"


def signatures(schema: Json) -> dict[str, str]:
    """Map every `Type.member` of an introspection result to its exact type, arguments included."""
    found = {}
    for item in schema["types"]:
        for field in (item.get("fields") or []) + (item.get("inputFields") or []):
            found[f"{item['name']}.{field['name']}"] = _signature(field)
        for value in item.get("enumValues") or []:
            found[f"{item['name']}.{value['name']}"] = "value"
    return found


def _keep_selected(document: DocumentNode, schema: Json, types: Json, kept: Kept) -> None:
    roots = {"query": schema["queryType"]["name"], "mutation": schema["mutationType"]["name"]}
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode):
            start = roots[definition.operation.value]
        elif isinstance(definition, FragmentDefinitionNode):
            start = definition.type_condition.name.value
        else:
            continue
        for owner, field in _selected(definition.selection_set, start, types):
            kept.setdefault(owner, set()).add(field)


def _selected(selections: SelectionSetNode, owner: str, types: Json) -> Iterator[tuple[str, str]]:
    for node in selections.selections:
        if isinstance(node, InlineFragmentNode):
            inner = node.type_condition.name.value if node.type_condition else owner
            yield from _selected(node.selection_set, inner, types)
        elif isinstance(node, FieldNode) and node.name.value != "__typename":
            yield owner, node.name.value
            if node.selection_set:
                field = _member(types, owner, node.name.value)
                yield from _selected(node.selection_set, _named(field["type"]), types)


def _closure(types: Json, kept: Kept) -> set[str]:
    """Add whole every input, enum and scalar that a kept field or argument names."""
    names = set(kept)
    waiting = [
        _member(types, owner, field) for owner in sorted(kept) for field in sorted(kept[owner])
    ]
    while waiting:
        member = waiting.pop()
        waiting += member.get("args") or []
        name = _named(member["type"])
        if name in names:
            continue
        if types[name]["kind"] in {"OBJECT", "INTERFACE", "UNION"}:
            raise SchemaDisagrees(f"{member['name']} returns {name}, of which no field is kept.")
        names.add(name)
        waiting += types[name].get("inputFields") or []
    return names


def _member(types: Json, owner: str, name: str) -> Json:
    fields: list[Json] = types.get(owner, {}).get("fields") or []
    for field in fields:
        if field["name"] == name:
            return field
    raise SchemaDisagrees(f"{owner}.{name} is not in this schema.")


def _named(kind: Json) -> str:
    while kind.get("ofType"):
        kind = kind["ofType"]
    return str(kind["name"])


def _spelled(kind: Json) -> str:
    if kind["kind"] == "NON_NULL":
        return _spelled(kind["ofType"]) + "!"
    if kind["kind"] == "LIST":
        return f"[{_spelled(kind['ofType'])}]"
    return str(kind["name"])


def _signature(field: Json) -> str:
    arguments = sorted(_argument(item) for item in field.get("args") or [])
    return (f"({', '.join(arguments)})" if arguments else "") + ": " + _spelled(field["type"])


def _argument(item: Json) -> str:
    default = f" = {item['defaultValue']}" if item.get("defaultValue") is not None else ""
    return f"{item['name']}: {_spelled(item['type'])}{default}"


def _print_root(schema: Json) -> str:
    return (
        f"# Types of Shopify's Admin GraphQL API, {API_VERSION}. "
        "Written by prune_schema.py; see schema.LICENSE.\n"
        f"schema {{\n  query: {schema['queryType']['name']}\n"
        f"  mutation: {schema['mutationType']['name']}\n}}"
    )


def _print_directives(schema: Json) -> list[str]:
    for item in schema["directives"]:
        if item["name"] == "idempotent":
            arguments = ", ".join(_argument(argument) for argument in item["args"])
            return [f"directive @idempotent({arguments}) on {' | '.join(item['locations'])}"]
    raise SchemaDisagrees("@idempotent is not in this schema.")


def _print_type(item: Json, kept: Kept, names: set[str]) -> str:
    name = item["name"]
    match item["kind"]:
        case "SCALAR":
            return f"scalar {name}"
        case "ENUM":
            return _block(f"enum {name}", [value["name"] for value in item["enumValues"]])
        case "INPUT_OBJECT":
            one_of = " @oneOf" if item.get("isOneOf") else ""
            return _block(
                f"input {name}{one_of}", [_argument(field) for field in item["inputFields"]]
            )
        case _:
            word = "interface" if item["kind"] == "INTERFACE" else "type"
            parents = sorted(
                parent["name"] for parent in item["interfaces"] if parent["name"] in names
            )
            suffix = f" implements {' & '.join(parents)}" if parents else ""
            fields = [f["name"] + _signature(f) for f in item["fields"] if f["name"] in kept[name]]
            return _block(f"{word} {name}{suffix}", fields)


def _block(head: str, lines: list[str]) -> str:
    return f"{head} {{\n" + "".join(f"  {line}\n" for line in sorted(lines)) + "}"


def main(arguments: list[str]) -> None:
    """Write `schema.graphql` from the folder named on the command line or in the environment."""
    folder = Path(arguments[0] if arguments else os.environ["RAZVIEL_SHOPIFY_SCHEMAS"])
    documents = HERE / "documents.graphql"
    text = prune(
        load(folder / f"admin_{API_VERSION}.json.gz"),
        documents=documents.read_text() if documents.exists() else "",
    )
    SCHEMA_FILE.write_text(text)
    sys.stdout.write(f"{SCHEMA_FILE.name}: {text.count(chr(10))} lines\n")


if __name__ == "__main__":
    main(sys.argv[1:])
