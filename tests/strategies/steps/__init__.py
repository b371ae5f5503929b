"""The legal steps of the product's rows, as raw statements: each is one transaction.

Promises: together they reach every table and every arc of an intent; a step that finds no row
to start from raises NoSuchRow.
Does not use the product's own code: what it would write is written here a second time.
"""

from tests.strategies.steps.births import (
    correct,
    make_up,
    propose,
    propose_reply,
    repeat,
    repeat_unsent,
)
from tests.strategies.steps.brand import (
    change_access,
    change_connection,
    count_and_bump,
    drop_sender,
    erase,
    some_access,
    some_connection,
    some_workspace,
)
from tests.strategies.steps.cases import (
    ask_more,
    ask_on_resolved,
    hand_over,
    some_case,
    work_on_case,
)
from tests.strategies.steps.closing import (
    close_unresolved,
    reopen,
    resolve_ticket,
    withdraw_and_close,
)
from tests.strategies.steps.gate import (
    allow,
    approve,
    clear,
    hold,
    refuse,
    say_no,
    want_approval,
    withdraw,
)
from tests.strategies.steps.hearing import accept, answer, bounce, find, look, poll
from tests.strategies.steps.sending import (
    claim,
    fail_as_absent,
    lose_answer,
    not_sent,
    prove_absent,
    reject,
    resend,
    set_aside,
)
from tests.strategies.steps.shared import Step

STEPS: tuple[Step, ...] = (
    some_workspace,
    some_access,
    change_access,
    some_connection,
    change_connection,
    drop_sender,
    some_case,
    work_on_case,
    erase,
    count_and_bump,
    propose,
    propose_reply,
    repeat,
    repeat_unsent,
    correct,
    make_up,
    allow,
    hold,
    clear,
    want_approval,
    refuse,
    withdraw,
    approve,
    say_no,
    claim,
    not_sent,
    lose_answer,
    reject,
    answer,
    find,
    poll,
    bounce,
    accept,
    prove_absent,
    resend,
    fail_as_absent,
    set_aside,
    look,
    resolve_ticket,
    close_unresolved,
    withdraw_and_close,
    reopen,
    hand_over,
    ask_more,
    ask_on_resolved,
)
"""Every legal step."""

WEIGHTS: dict[Step, int] = {
    some_case: 10,
    propose: 20,
    allow: 20,
    claim: 30,
    answer: 14,
    lose_answer: 18,
    prove_absent: 10,
    resend: 6,
    resolve_ticket: 8,
    bounce: 6,
    set_aside: 5,
    work_on_case: 5,
    repeat: 5,
    repeat_unsent: 2,
    correct: 2,
    make_up: 3,
    clear: 6,
    say_no: 1,
    poll: 2,
    reopen: 1,
    close_unresolved: 1,
    withdraw_and_close: 2,
    hand_over: 1,
    some_workspace: 1,
    refuse: 1,
    withdraw: 1,
    ask_more: 1,
    ask_on_resolved: 1,
    look: 2,
    some_access: 2,
    change_access: 2,
    change_connection: 2,
    count_and_bump: 2,
    want_approval: 8,
    approve: 8,
}
"""How often a step is drawn, 3 unless said: life must go on for later steps to have rows."""

__all__ = ["STEPS", "WEIGHTS", "Step"]
