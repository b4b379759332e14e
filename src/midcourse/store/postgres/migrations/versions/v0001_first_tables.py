"""The first tables.

Written out in SQL: half of it (partitions, row-level security, privileges, the audit chain) has no other notation.
"""

from alembic import context, op

revision = "0001"
down_revision = None

TABLES = """
CREATE TABLE midcourse.tenants (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant') PRIMARY KEY,
    entered_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tenants_are_named CHECK (tenant <> '')
);

CREATE TABLE midcourse.runs (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    id text NOT NULL,
    entered bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    month date NOT NULL DEFAULT date_trunc('month', now() AT TIME ZONE 'utc')::date,
    key text NOT NULL,
    goal text NOT NULL,
    task text NOT NULL,
    job text NOT NULL DEFAULT '',
    opening text NOT NULL,
    state text,
    seq integer NOT NULL,
    phase text NOT NULL,
    final_reason text NOT NULL DEFAULT '',
    told_at integer NOT NULL DEFAULT 0,
    began_at double precision NOT NULL DEFAULT 0,
    status text NOT NULL GENERATED ALWAYS AS
        (CASE WHEN phase IN ('asking', 'paused', 'ended') THEN phase ELSE 'running' END) STORED,
    PRIMARY KEY (tenant, id)
) WITH (toast_tuple_target = 256, fillfactor = 80);  -- a new phase rewrites the row: keep it short, and in its page
CREATE INDEX runs_newest ON midcourse.runs (tenant, entered DESC);
CREATE INDEX runs_by_status ON midcourse.runs (tenant, status, entered DESC);
CREATE INDEX runs_with_key ON midcourse.runs (tenant, key, entered DESC) WHERE key <> '';

CREATE TABLE midcourse.journal (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    month date NOT NULL,
    seq integer NOT NULL,
    kind text NOT NULL,
    event text NOT NULL,
    commands text,
    PRIMARY KEY (tenant, run, month, seq)
) PARTITION BY RANGE (month);
CREATE TABLE midcourse.journal_default PARTITION OF midcourse.journal DEFAULT;

CREATE TABLE midcourse.observations (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    month date NOT NULL,
    id text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, run, month, id)
) PARTITION BY RANGE (month);
CREATE TABLE midcourse.observations_default PARTITION OF midcourse.observations DEFAULT;

CREATE TABLE midcourse.plans (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    version integer NOT NULL,
    made_by integer NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, run, version)
);

CREATE TABLE midcourse.consequences (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    digest text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, run, digest)
);

CREATE TABLE midcourse.ledger (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    command integer NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, run, command)
) WITH (fillfactor = 80);  -- every entry is written twice

CREATE TABLE midcourse.results (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, run)
);

CREATE TABLE midcourse.sessions (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    handle text NOT NULL,
    PRIMARY KEY (tenant, run)
);

CREATE TABLE midcourse.turns (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    turn integer NOT NULL,
    attempt bigint NOT NULL,
    PRIMARY KEY (tenant, run)
) WITH (fillfactor = 50);  -- every step writes its run's row

CREATE TABLE midcourse.approvals (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    run text NOT NULL,
    question integer NOT NULL,
    body text NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT now(),
    open boolean NOT NULL DEFAULT true,
    decision text,
    PRIMARY KEY (tenant, run, question)
);
CREATE INDEX approvals_open ON midcourse.approvals (tenant, asked_at) WHERE open;

CREATE TABLE midcourse.audit (
    tenant text NOT NULL DEFAULT current_setting('midcourse.tenant'),
    n bigint NOT NULL,
    run text NOT NULL,
    seq integer NOT NULL,
    body text NOT NULL,
    hash text NOT NULL,
    PRIMARY KEY (tenant, n)
);
CREATE UNIQUE INDEX audit_event_once ON midcourse.audit (tenant, run, seq, md5(body));
"""

AUDIT_CHAIN = """
CREATE FUNCTION midcourse.chain_audit() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS $$
DECLARE
    last record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('midcourse audit ' || NEW.tenant, 0));
    SELECT n, hash INTO last FROM midcourse.audit WHERE tenant = NEW.tenant ORDER BY n DESC LIMIT 1;
    NEW.n := coalesce(last.n, 0) + 1;
    NEW.hash := encode(sha256(convert_to(concat_ws(' ', coalesce(last.hash, ''), NEW.n, NEW.seq,
        length(NEW.tenant), NEW.tenant, length(NEW.run), NEW.run, NEW.body), 'UTF8')), 'hex');
    RETURN NEW;
END
$$;
CREATE TRIGGER chain_audit BEFORE INSERT ON midcourse.audit FOR EACH ROW EXECUTE FUNCTION midcourse.chain_audit();
"""

WITH_TENANT = (
    "tenants",
    "runs",
    "journal",
    "observations",
    "plans",
    "consequences",
    "ledger",
    "results",
    "sessions",
    "turns",
    "approvals",
    "audit",
)
UNREACHABLE = ("journal_default", "observations_default")
"""Read and written through their parents only: they have no policy that would allow direct access."""
ADD_ONLY = ("tenants", "audit")


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(AUDIT_CHAIN)
    for table in WITH_TENANT + UNREACHABLE:
        op.execute(f"ALTER TABLE midcourse.{table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
    for table in WITH_TENANT:
        op.execute(
            f"CREATE POLICY own_tenant ON midcourse.{table}"
            " USING (tenant = nullif(current_setting('midcourse.tenant', true), ''))"
        )
    role = context.config.attributes["role"]
    op.execute(f"GRANT USAGE ON SCHEMA midcourse TO {role}")
    op.execute(f"GRANT SELECT ON midcourse.alembic_version TO {role}")
    for table in WITH_TENANT:
        rights = "SELECT, INSERT" if table in ADD_ONLY else "SELECT, INSERT, UPDATE"
        op.execute(f"GRANT {rights} ON midcourse.{table} TO {role}")
