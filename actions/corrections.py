"""What a correction changes for what it corrects: nothing, until it has done what was wanted.

Promises: what is corrected stands before its person until the correction is confirmed or accepted;
one that is refused, withdrawn or fails leaves it there.
Does not know who may correct what: that is `actions.linking`.
"""

from datetime import datetime

from actions.models import Intent
from actions.moves import remark
from actions.states import NeedsHuman
from integrations.actors import SYSTEM

_CORRECTED = (NeedsHuman.REJECTED, NeedsHuman.MONEY_FAILED, NeedsHuman.RESEND_ENDED)


def made_good(correction: Intent, *, at: datetime) -> None:
    """Take what is corrected from before its person, now that its correction stands."""
    if correction.corrects_id is None:
        return
    corrected = Intent.objects.select_for_update(no_key=True).get(pk=correction.corrects_id)
    if corrected.needs_human_reason in _CORRECTED:
        remark(
            corrected,
            "made_good",
            by=SYSTEM,
            at=at,
            reason="what corrects it stands on the platform",
            details={"by": correction.public_id},
            needs_human_since=None,
            needs_human_reason="",
        )
    made_good(corrected, at=at)
