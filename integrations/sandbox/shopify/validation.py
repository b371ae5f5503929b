"""Refusals of documents that do not fit the schema, in Shopify's (graphql-ruby's) shapes.

Promises: every rule of the GraphQL specification is applied, so nothing invalid is ever executed;
the four shapes that have been recorded are exact, the others carry graphql-core's text under
graphql-ruby's code. Sources, read 2026-11-30: https://github.com/rmosolgo/graphql-ruby
(lib/graphql/static_validation) and the recordings named in reference 2.2 and section 4.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from graphql import (
    ArgumentNode,
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLArgument,
    GraphQLError,
    GraphQLSchema,
    InlineFragmentNode,
    NamedTypeNode,
    NameNode,
    Node,
    ObjectFieldNode,
    OperationDefinitionNode,
    VariableDefinitionNode,
    get_named_type,
    is_input_object_type,
    is_required_argument,
    parse,
    specified_rules,
    validate,
)
from graphql.validation import (
    ASTValidationRule,
    FieldsOnCorrectTypeRule,
    KnownArgumentNamesRule,
    KnownDirectivesRule,
    ProvidedRequiredArgumentsRule,
    ValidationRule,
)

from integrations.sandbox.shopify.schema import load_schema

Problem: TypeAlias = dict[str, object]
Ancestors: TypeAlias = Sequence[Node | Sequence[Node]]

# Rule of graphql-core -> code of graphql-ruby, where it is not simply unknown.
_CODES = {
    "KnownFragmentNames": "useAndDefineFragment",
    "KnownTypeNames": "undefinedType",
    "LoneAnonymousOperation": "uniquelyNamedOperations",
    "NoUndefinedVariables": "variableNotDefined",
    "NoUnusedFragments": "useAndDefineFragment",
    "NoUnusedVariables": "variableNotUsed",
    "OverlappingFieldsCanBeMerged": "fieldConflict",
    "PossibleFragmentSpreads": "cannotSpreadFragment",
    "ScalarLeafs": "selectionMismatch",
    "UniqueDirectivesPerLocation": "directiveNotUniqueForLocation",
    "UniqueInputFieldNames": "inputFieldNotUnique",
    "UniqueOperationNames": "uniquelyNamedOperations",
    "UniqueVariableNames": "variableNotUnique",
    "ValuesOfCorrectType": "argumentLiteralsIncompatible",
    "VariablesAreInputTypes": "variableRequiresValidType",
    "VariablesInAllowedPosition": "variableMismatch",
}


@lru_cache(maxsize=256)
def check_document(text: str) -> tuple[DocumentNode | None, tuple[Problem, ...]]:
    """Parse and validate; remembered, since clients repeat their documents."""
    try:
        document = parse(text)
    except GraphQLError as error:
        return None, ({"message": error.message, "locations": _locations(error)},)
    schema = load_schema()
    problems = _check(schema, document, _RUBY_RULES)
    if not problems:
        for rule in _OTHER_RULES:
            code = _CODES.get(rule.__name__.removesuffix("Rule"), "invalidDocument")
            problems += _check(schema, document, [rule], code=code)
    return document, tuple(problems)


def path_of(ancestors: Ancestors, *nodes: Node) -> list[str]:
    """Spell where a node stands: the operation, then each field by its name in the answer."""
    flat = [item for item in [*ancestors, *nodes] if isinstance(item, Node)]
    return [step for item in flat for step in _steps(item)]


def _steps(item: Node) -> list[str]:
    match item:
        case OperationDefinitionNode():
            return [" ".join([item.operation.value] + ([item.name.value] if item.name else []))]
        case FragmentDefinitionNode():
            return [f"fragment {item.name.value}"]
        case InlineFragmentNode(type_condition=NamedTypeNode(name=name)):
            return [f"... on {name.value}"]
        case (
            FieldNode(alias=NameNode(value=step))
            | FieldNode(name=NameNode(value=step))
            | ObjectFieldNode(name=NameNode(value=step))
            | ArgumentNode(name=NameNode(value=step))
        ):
            return [step]
        case _:
            return []


class _UndefinedField(ValidationRule):
    def enter_field(
        self, node: FieldNode, _k: object, _p: object, _path: object, ancestors: Ancestors
    ) -> None:
        parent = self.context.get_parent_type()
        if parent is None or self.context.get_field_def() is not None:
            return
        details = {"code": "undefinedField", "typeName": parent.name, "fieldName": node.name.value}
        message = f"Field '{node.name.value}' doesn't exist on type '{parent.name}'"
        self.report_error(_error(message, node, path_of(ancestors, node), details))


class _ArgumentNotAccepted(ValidationRule):
    def enter_field(
        self, node: FieldNode, _k: object, _p: object, _path: object, ancestors: Ancestors
    ) -> None:
        field = self.context.get_field_def()
        for argument in (node.arguments or ()) if field else ():
            if argument.name.value not in field.args:  # type: ignore[union-attr]  # field is set where the loop runs
                self._report("Field", node.name.value, argument, path_of(ancestors, node, argument))

    def enter_directive(
        self, node: DirectiveNode, _k: object, _p: object, _path: object, ancestors: Ancestors
    ) -> None:
        directive = self.context.get_directive()
        for argument in (node.arguments or ()) if directive else ():
            if argument.name.value not in directive.args:  # type: ignore[union-attr]  # as above
                self._report("Directive", node.name.value, argument, path_of(ancestors, argument))

    def enter_object_field(
        self, node: ObjectFieldNode, _k: object, _p: object, _path: object, ancestors: Ancestors
    ) -> None:
        parent = get_named_type(self.context.get_parent_input_type())
        if is_input_object_type(parent) and node.name.value not in parent.fields:
            self._report("InputObject", parent.name, node, path_of(ancestors, node))

    def _report(self, kind: str, owner: str, node: Node, path: list[str]) -> None:
        name = path[-1]
        details = {
            "code": "argumentNotAccepted",
            "name": owner,
            "typeName": kind,
            "argumentName": name,
        }
        self.report_error(
            _error(f"{kind} '{owner}' doesn't accept argument '{name}'", node, path, details)
        )


class _DirectiveCannotBeApplied(ASTValidationRule):
    def enter_directive(
        self, node: DirectiveNode, _k: object, _p: object, _path: object, ancestors: Ancestors
    ) -> None:
        name = node.name.value
        directive = load_schema().get_directive(name)
        target, location = _target([item for item in ancestors if isinstance(item, Node)][-1])
        path = path_of(ancestors)
        if directive is None:
            details = {"code": "undefinedDirective", "directiveName": name}
            self.report_error(_error(f"Directive @{name} is not defined", node, path, details))
        elif location not in {place.name for place in directive.locations}:
            allowed = ", ".join(
                _PLURALS[place.name] for place in directive.locations if place.name in _PLURALS
            )
            details = {"code": "directiveCannotBeApplied", "targetName": target, "name": name}
            self.report_error(
                _error(
                    f"'@{name}' can't be applied to {target} (allowed: {allowed})",
                    node,
                    path,
                    details,
                )
            )


class _MissingArguments(ValidationRule):
    def leave_field(
        self, node: FieldNode, _k: object, _p: object, _path: object, ancestors: Ancestors
    ) -> None:
        field = self.context.get_field_def()
        if field is not None:
            self._check("Field", node, field.args, path_of(ancestors, node))

    def leave_directive(
        self, node: DirectiveNode, _k: object, _p: object, _path: object, ancestors: Ancestors
    ) -> None:
        directive = self.context.get_directive()
        if directive is not None:
            self._check("Directive", node, directive.args, path_of(ancestors))

    def _check(
        self,
        kind: str,
        node: FieldNode | DirectiveNode,
        known: dict[str, GraphQLArgument],
        path: list[str],
    ) -> None:
        given = {argument.name.value for argument in node.arguments or ()}
        missing = ", ".join(
            n for n, a in known.items() if is_required_argument(a) and n not in given
        )
        if missing:
            name = node.name.value
            details = {
                "code": "missingRequiredArguments",
                "className": kind,
                "name": name,
                "arguments": missing,
            }
            message = f"{kind} '{name}' is missing required arguments: {missing}"
            self.report_error(_error(message, node, path, details))


_PLURALS = {
    "FIELD": "fields",
    "FRAGMENT_SPREAD": "fragment spreads",
    "INLINE_FRAGMENT": "inline fragments",
    "QUERY": "queries",
    "MUTATION": "mutations",
    "SUBSCRIPTION": "subscriptions",
    "FRAGMENT_DEFINITION": "fragment definitions",
    "VARIABLE_DEFINITION": "variable definitions",
}
_RUBY_RULES = [_UndefinedField, _ArgumentNotAccepted, _DirectiveCannotBeApplied, _MissingArguments]
_REPLACED = {
    FieldsOnCorrectTypeRule,
    KnownArgumentNamesRule,
    KnownDirectivesRule,
    ProvidedRequiredArgumentsRule,
}
_OTHER_RULES = [rule for rule in specified_rules if rule not in _REPLACED]


def _target(node: Node) -> tuple[str, str]:
    match node:
        case OperationDefinitionNode():
            location = node.operation.value.upper()
        case FieldNode():
            location = "FIELD"
        case FragmentSpreadNode():
            location = "FRAGMENT_SPREAD"
        case InlineFragmentNode():
            location = "INLINE_FRAGMENT"
        case VariableDefinitionNode():
            location = "VARIABLE_DEFINITION"
        case _:
            location = "FRAGMENT_DEFINITION"
    return _PLURALS[location], location


def _error(message: str, node: Node, path: list[str], extensions: dict[str, str]) -> GraphQLError:
    return GraphQLError(message, node, path=list(path), extensions=dict(extensions))


def _check(
    schema: GraphQLSchema,
    document: DocumentNode,
    rules: Sequence[type[ASTValidationRule]],
    *,
    code: str = "",
) -> list[Problem]:
    problems = []
    for error in validate(schema, document, rules):
        problem: Problem = {"message": error.message, "locations": _locations(error)}
        if error.path is not None:
            problem["path"] = list(error.path)
        problem["extensions"] = dict(error.extensions or {"code": code})
        problems.append(problem)
    return problems


def _locations(error: GraphQLError) -> list[dict[str, int]]:
    return [{"line": place.line, "column": place.column} for place in error.locations or ()]
