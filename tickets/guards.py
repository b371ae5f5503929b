"""What the database holds about tickets alone.

Promises, to every caller, raw SQL included: the path only grows, a revision follows what it
revises, a resolution is born standing.
Does not know intents: what a resolved ticket needs stands in `actions.guards.closing`.
"""

from integrations.guards import Guard, refuse

TICKET_PATH = Guard(
    name="tickets_ticket_path",
    table="tickets_ticket",
    when="BEFORE INSERT OR UPDATE",
    body=f"""
    IF jsonb_typeof(NEW.path) <> 'array' THEN
        {refuse("tickets_ticket_path", "the path is a list of entries")}
    END IF;
    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;
    IF jsonb_array_length(NEW.path) < jsonb_array_length(OLD.path) OR EXISTS (
        SELECT 1 FROM generate_series(0, jsonb_array_length(OLD.path) - 1) n
        WHERE OLD.path->n IS DISTINCT FROM NEW.path->n) THEN
        {refuse("tickets_ticket_path", "the path only grows")}
    END IF;
    RETURN NEW;""",
)

REQUEST_REVISION = Guard(
    name="tickets_request_revision",
    table="tickets_request",
    when="BEFORE INSERT",
    body=f"""
    IF NEW.revises_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.tickets_request q
        WHERE q.id = NEW.revises_id AND q.ticket_id = NEW.ticket_id AND q.number < NEW.number) THEN
        {refuse("tickets_request_revision", "a revision follows a request of its own ticket")}
    END IF;
    RETURN NEW;""",
)

RESOLUTION_BIRTH = Guard(
    name="tickets_resolution_birth",
    table="tickets_resolution",
    when="BEFORE INSERT",
    body=f"""
    IF NEW.reopened_at IS NOT NULL THEN
        {refuse("tickets_resolution_birth", "a resolution is born standing, and reopened later")}
    END IF;
    RETURN NEW;""",
)

GUARDS = (TICKET_PATH, REQUEST_REVISION, RESOLUTION_BIRTH)
