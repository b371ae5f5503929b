"""Guards on closing: whatever touches a ticket or what is its own leaves its standing true.

Promises: at commit, after waiting for whoever else is changing the ticket, no ticket stands as
resolved without all that it needs.
Does not know how a ticket is closed: that is `actions.closing`.
"""

from actions.guards.intents import INTENT
from integrations.guards import Guard, refuse


def _ticket_standing(table: str, *, ticket: str, unchanged: str = "false") -> Guard:
    name = f"{table}_ticket_standing"
    return Guard(
        name=name,
        table=table,
        when="AFTER INSERT OR UPDATE",
        deferred=True,
        declare="fault text;",
        body=f"""
        IF TG_OP = 'UPDATE' THEN
            IF {unchanged} THEN RETURN NULL; END IF;
        END IF;
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            {refuse(name, "the last look at a ticket must be fresh: read committed alone shows it")}
        END IF;
        -- Waits for whoever closes the ticket at this moment; the next statement sees what they wrote.
        PERFORM 1 FROM public.tickets_ticket WHERE id = {ticket} FOR SHARE;
        fault := public.actions_ticket_fault({ticket});
        IF fault IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = '{name}', MESSAGE = fault;
        END IF;
        RETURN NULL;""",
    )


GUARDS = (
    _ticket_standing("tickets_ticket", ticket="NEW.id"),
    _ticket_standing("tickets_resolution", ticket="NEW.ticket_id"),
    _ticket_standing("tickets_request", ticket="NEW.ticket_id"),
    # An intent that stays in its state takes no lock: sweeps push due times on without the ticket.
    _ticket_standing(INTENT, ticket="NEW.ticket_id", unchanged="NEW.state = OLD.state"),
)
