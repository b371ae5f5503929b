"""Keys: one wish, one key, however it is spelled; another wish, another key."""

from decimal import Decimal
from unicodedata import normalize
from uuid import UUID

from hypothesis import assume, given
from hypothesis import strategies as st

from actions.catalogue import REFUND
from actions.keys import Canonical, canonical_json, derive_key
from integrations.money import EXPONENTS, Money

NAMES = st.text(min_size=1, max_size=12)
VALUES: st.SearchStrategy[Canonical] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
WISHES = st.tuples(
    NAMES, NAMES, NAMES, st.dictionaries(NAMES, VALUES, max_size=4), st.integers(1, 9)
)
Wish = tuple[str, str, str, dict[str, Canonical], int]


def key_of(wish: Wish) -> UUID:
    workspace, ticket, kind, key_parameters, occurrence = wish
    return derive_key(
        workspace=workspace,
        ticket=ticket,
        kind=kind,
        key_parameters=key_parameters,
        occurrence=occurrence,
    )


def no_twins(wish: Wish) -> bool:
    return len({normalize("NFC", name) for name in wish[3]}) == len(wish[3])


def refund_key(order: int, amount: str, currency: str) -> UUID:
    refund = REFUND.parse(
        {"order": f"gid://shopify/Order/{order}", "amount": amount, "currency": currency}
    )
    return key_of(("w", "t", REFUND.name, refund.key_parameters(), 1))


@given(wish=WISHES, backwards=st.booleans(), form=st.sampled_from(["NFC", "NFD"]))
def test_order_and_normal_form_never_matter(wish: Wish, backwards: bool, form: str) -> None:
    workspace, ticket, kind, parameters, occurrence = wish
    names = {normalize(form, name): value for name, value in parameters.items()}  # type: ignore[arg-type]  # one of four forms
    assume(no_twins(wish) and len(names) == len(parameters))
    items = list(names.items())
    respelled = dict(reversed(items) if backwards else items)
    spelled = normalize(form, workspace)  # type: ignore[arg-type]  # one of four forms
    assert key_of((spelled, ticket, kind, respelled, occurrence)) == key_of(wish)


@given(one=WISHES, two=WISHES)
def test_two_wishes_share_a_key_only_if_they_share_their_canonical_form(
    one: Wish, two: Wish
) -> None:
    assume(no_twins(one) and no_twins(two))
    try:
        same = canonical_json(list(one)) == canonical_json(list(two))
    except TypeError:  # names inside a value that normalise to one
        return
    assert (key_of(one) == key_of(two)) is same


@given(
    order=st.integers(1, 10**19),
    minor=st.integers(1, 10**14),
    currency=st.sampled_from(sorted(EXPONENTS)),
)
def test_the_spelling_of_an_amount_never_matters(order: int, minor: int, currency: str) -> None:
    full = Money(amount=Decimal(minor).scaleb(-EXPONENTS[currency]), currency=currency).canonical()
    short = full.rstrip("0").rstrip(".") if "." in full else full
    assert refund_key(order, short, currency) == refund_key(order, full, currency)


@given(
    order=st.integers(1, 10**6),
    minor=st.integers(1, 10**6),
    other_order=st.integers(1, 10**6),
    other_minor=st.integers(1, 10**6),
)
def test_another_order_or_amount_is_another_wish(
    order: int, minor: int, other_order: int, other_minor: int
) -> None:
    one = refund_key(order, f"{Decimal(minor).scaleb(-2):f}", "EUR")
    two = refund_key(other_order, f"{Decimal(other_minor).scaleb(-2):f}", "EUR")
    assert (one == two) is ((order, minor) == (other_order, other_minor))
