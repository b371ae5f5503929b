"""The kind *store credit*: give money for an order back as credit at the store.

Promises: the same exact amount, basis and marker as a refund, in the same call; nothing goes back
over the payments; *credited* is said only when it is confirmed.
Does not know how an account of store credit is kept: the store opens and books it.
"""

from actions.catalogue.kind import Kind
from actions.catalogue.refund import RefundParameters, capabilities, freeze, send
from actions.states import State

_ASKED = "The request for store credit of {money} is being processed."
_ON_ITS_WAY = "The store credit of {money} is being processed."

STORE_CREDIT_KIND = Kind(
    name="store_credit",
    target_kind="order",
    capabilities=capabilities,
    freeze=freeze,
    send=send,
    parameters=RefundParameters,
    # That the order has a customer to credit is a fact of the gate, hence `read_customers`.
    # https://shopify.dev/docs/api/admin-graphql/latest/mutations/refundCreate ; read 2026-11-30
    required_scopes=frozenset({"read_orders", "write_orders", "read_customers"}),
    wording={
        State.PROPOSED: _ASKED,
        State.HELD: _ASKED,
        State.AWAITING_APPROVAL: _ASKED,
        State.AUTHORIZED: _ASKED,
        State.EXECUTING: _ON_ITS_WAY,
        State.UNKNOWN: _ON_ITS_WAY,
        State.PENDING: _ON_ITS_WAY,
        State.PARTIALLY_CONFIRMED: _ON_ITS_WAY,
        State.CONFIRMED: "{money} have been credited at the store.",
        State.ACCEPTED: (
            "Of the store credit of {money} another amount was given, and a person has agreed to "
            "that."
        ),
        State.FAILED: "The store credit of {money} could not be given.",
        State.REFUSED: "Store credit of {money} can't be given.",
        State.WITHDRAWN: (
            "The request for store credit of {money} was taken back; none was given."
        ),
        State.REVERSED: "The store credit of {money} did not go through after all.",
    },
    to_store_credit=True,
)
