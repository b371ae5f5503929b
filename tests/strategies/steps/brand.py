"""Steps of a brand: workspaces, access, connections, erasure, counters.

Promises: each is one transaction that the database accepts as it stands.
Does not know tickets.
"""

from decimal import Decimal

from tests.strategies.statements import Statement, delete, insert, update
from tests.strategies.steps.shared import APP, pk
from tests.strategies.world import World


def some_workspace(w: World) -> list[Statement]:
    """A brand, its policy, a token, a person's place."""
    ws = w.new_id("integrations_workspace")
    return [
        insert(
            "integrations_workspace",
            ws,
            public_id=w.word("wsp"),
            slug=w.word("brand"),
            name="Brand",
        ),
        insert(
            "actions_policyversion",
            w.new_id("actions_policyversion"),
            workspace_id=ws,
            number=1,
            document={},
            author_kind="system",
            author_identity="setup",
        ),
    ]


def some_access(w: World) -> list[Statement]:
    """A token, a membership, a next policy version."""
    ws = pk(w.row("integrations_workspace"))
    taken = {row["user_id"] for row in w.rows("integrations_membership", "workspace_id = %s", ws)}
    free = [user for user in range(1, 7) if user not in taken]
    number = len(w.rows("actions_policyversion", "workspace_id = %s", ws)) + 1
    membership = (
        [
            insert(
                "integrations_membership",
                w.new_id("integrations_membership"),
                workspace_id=ws,
                user_id=free[0],
                role="approver",
            )
        ]
        if free
        else []
    )
    return [
        *membership,
        insert(
            "integrations_apitoken",
            w.new_id("integrations_apitoken"),
            workspace_id=ws,
            public_id=w.word("tok"),
            name="agent",
            actor_kind="ai",
            actor_identity="agent-1",
            digest=w.word("digest"),
        ),
        insert(
            "actions_policyversion",
            w.new_id("actions_policyversion"),
            workspace_id=ws,
            number=number,
            document={},
            author_kind="human_node",
            author_identity="node-1",
        ),
    ]


def change_access(w: World) -> list[Statement]:
    """Another role, a place given up, a token revoked."""
    member, token = (
        w.row("integrations_membership"),
        w.row("integrations_apitoken", "revoked_at IS NULL"),
    )
    return [
        update("integrations_membership", pk(member), role=w.rng.choice(["auditor", "operator"])),
        update("integrations_apitoken", pk(token), revoked_at=w.moment()),
        delete("integrations_membership", pk(member)),
    ]


def some_connection(w: World) -> list[Statement]:
    """A store and a desk, with an identity that speaks there."""
    ws = pk(w.row("integrations_workspace"))
    sandbox = w.rng.random() < 0.3
    shop, desk, domain = (
        w.new_id("integrations_connection"),
        w.new_id("integrations_connection"),
        w.word("shop"),
    )
    return [
        insert(
            "integrations_connection",
            shop,
            workspace_id=ws,
            public_id=w.word("con"),
            platform="shopify",
            domain=domain,
            base_url=f"http://{domain}" if sandbox else f"https://{domain}",
            account=None if sandbox else domain,
            app=APP,
            currency="EUR",
            is_sandbox=sandbox,
            time_scale=Decimal("0.5") if sandbox else Decimal(1),
        ),
        insert(
            "integrations_connection",
            desk,
            workspace_id=ws,
            public_id=w.word("con"),
            platform="gorgias",
            domain=w.word("desk"),
            base_url="https://desk.example",
            app=APP,
        ),
        insert(
            "integrations_senderidentity",
            w.new_id("integrations_senderidentity"),
            workspace_id=ws,
            connection_id=desk,
            actor_kind="ai",
            actor_identity="agent-1",
            external_user="7",
        ),
        insert(
            "actions_target",
            w.new_id("actions_target"),
            workspace_id=ws,
            connection_id=shop,
            kind="order",
            identifier=w.word("order"),
        ),
    ]


def change_connection(w: World) -> list[Statement]:
    """An account that first answers, a block and its end, another sender, a workspace's switch."""
    connection, sender = (
        w.row("integrations_connection", "account IS NULL"),
        w.row("integrations_senderidentity"),
    )
    at = w.moment()
    return [
        update(
            "integrations_connection",
            pk(connection),
            account=w.word("account"),
            scopes=["read_orders"],
        ),
        update("integrations_connection", pk(connection), blocked_by="credential", blocked_at=at),
        update(
            "integrations_connection", pk(connection), blocked_by="", blocked_at=None, checked_at=at
        ),
        update("integrations_senderidentity", pk(sender), external_user=w.word("user")),
        update(
            "integrations_workspace",
            int(str(connection["workspace_id"])),
            paused_at=None,
            name="Brand again",
        ),
    ]


def drop_sender(w: World) -> list[Statement]:
    """An identity that no longer speaks."""
    return [delete("integrations_senderidentity", pk(w.row("integrations_senderidentity")))]


def erase(w: World) -> list[Statement]:
    """A person's key is destroyed."""
    key = w.row("integrations_subjectkey", "destroyed_at IS NULL")
    return [update("integrations_subjectkey", pk(key), wrapped=None, destroyed_at=w.moment())]


def count_and_bump(w: World) -> list[Statement]:
    """A counter opens and is used; a target's version rises."""
    target = w.row("actions_target")
    counter = w.new_id("actions_counter")
    return [
        insert(
            "actions_counter",
            counter,
            workspace_id=target["workspace_id"],
            name="orders",
            subject=w.word("order"),
            currency="EUR",
        ),
        update("actions_counter", counter, used=Decimal("12.5")),
        update("actions_target", pk(target), version=int(str(target["version"])) + 1),
    ]
