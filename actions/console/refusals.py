"""What a service says when it can't take a person's word, as one sentence for them.

Promises: whatever a service is known to refuse has its sentence, which says what is so and what to
do; anything else is a fault of ours and is raised.
Does not know which service was asked.
"""

from actions import accepting, approving, linking
from actions.catalogue import InvalidParameters, UnknownKind
from actions.services import AlreadySettled, NoStore, WhichStore
from actions.states import StaleState
from tickets.services import NotOpen

REFUSALS = (
    accepting.OnlyAPerson,
    accepting.NotAcceptable,
    accepting.AnotherAmount,
    approving.OnlyAPerson,
    approving.OwnProposal,
    approving.NotWaiting,
    approving.ShownOtherwise,
    approving.NotClearable,
    linking.NothingToRepeat,
    linking.NotTheSame,
    linking.NotRepeatable,
    linking.PersonRepeats,
    linking.RepeatAsks,
    linking.NotCorrectable,
    linking.PersonCorrects,
    linking.AlreadyCorrected,
    linking.NoRest,
    linking.MoreThanTheRest,
    AlreadySettled,
    NoStore,
    WhichStore,
    StaleState,
    UnknownKind,
    InvalidParameters,
    NotOpen,
)
"""Every refusal that a person's word may meet."""


def said_of(refusal: Exception) -> str:
    """Return the sentence of a refusal."""
    match refusal:
        case accepting.AnotherAmount():
            return f"{refusal.stands} stand on the platform now, which is not what you accept."
        case linking.RepeatAsks():
            return "It stands on the platform. Look at what stands there now before you repeat it."
        case linking.MoreThanTheRest() | InvalidParameters():
            return str(refusal)
        case UnknownKind():
            return str(refusal.args[0])
        case _:
            return " ".join((refusal.__doc__ or "").split())
