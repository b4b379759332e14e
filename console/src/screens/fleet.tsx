import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ShieldAlert, ShieldCheck } from "lucide-react";
import { auditQuery, fleetQuery, meQuery, settingsQuery } from "../api/queries";
import { Chip, Fact, TextWithCode, Panel, PageHeading } from "../ui/components";
import { UntrustedText } from "../ui/untrusted-text";
import { formatCount } from "../ui/format";
import { ErrorNotice } from "../ui/error-notice";

/** The server, its runs, the audit log and the settings. */
export function Fleet() {
  const fleet = useQuery(fleetQuery());
  const me = useQuery(meQuery());
  const audit = useQuery(auditQuery());
  const view = fleet.data;
  return (
    <div className="space-y-5">
      <PageHeading>
        {fleet.error
          ? "The state of the fleet cannot be read."
          : !view
            ? "Loading the state of the fleet…"
            : view.kind === "local"
              ? `This server drives ${formatCount(view.driven_here.length, "run")} itself; other processes on its machine may drive more.`
              : `Workers drive the runs; this server drives ${view.driven_here.length ? formatCount(view.driven_here.length, "run") : "none"}.`}
      </PageHeading>
      <ErrorNotice error={fleet.error} />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
        <div className="space-y-5">
          {view && (
            <Panel title="Server">
              <dl className="grid grid-cols-2 gap-4">
                <Fact name="kind">{view.kind}</Fact>
                <Fact name="tenant">
                  <UntrustedText text={view.tenant} />
                </Fact>
                <Fact name="watched runs">{view.watched}</Fact>
                {me.data && (
                  <Fact name="you">
                    <UntrustedText text={me.data.name} /> <Chip tone="plain">{me.data.role}</Chip>
                  </Fact>
                )}
              </dl>
            </Panel>
          )}
          {view && view.driven_here.length > 0 && (
            <Panel flush title="Driven by this server" aside={view.driven_here.length}>
              <ul className="max-h-72 overflow-y-auto" tabIndex={0} aria-label="Driven by this server">
                {view.driven_here.map((run) => (
                  <li key={run} className="border-b last:border-b-0">
                    <Link to="/runs/$run" params={{ run }} search={{}} className="block px-4 py-2 font-mono text-xs -outline-offset-2 hover:bg-sunken">
                      {run}
                    </Link>
                  </li>
                ))}
              </ul>
            </Panel>
          )}
          {audit.data && (
            <Panel title="Audit log">
              <p className="flex items-start gap-2.5 text-sm">
                {audit.data.holds ? <ShieldCheck aria-hidden className="size-5 shrink-0 text-good" /> : <ShieldAlert aria-hidden className="size-5 shrink-0 text-bad" />}
                <span>
                  {audit.data.holds ? `The log is intact: ${formatCount(audit.data.rows, "row")}, each linked to the previous one by its hash.` : <UntrustedText text={audit.data.problem} />}
                  {audit.data.rows > 0 && <span className="mt-1 block font-mono text-xs text-soft">head {audit.data.head.hash.slice(0, 24)}…</span>}
                </span>
              </p>
            </Panel>
          )}
        </div>
        <Settings />
      </div>
    </div>
  );
}

function Settings() {
  const settings = useQuery(settingsQuery());
  const { q = "", all = false } = useSearch({ from: "/fleet" });
  const navigate = useNavigate({ from: "/fleet" });
  const rows = (settings.data ?? []).filter((row) => (all || row.audience === "everyday" || row.value !== row.default) && `${row.name} ${row.description}`.toLowerCase().includes(q.toLowerCase()));
  return (
    <Panel
      flush
      title="Settings of new runs"
      aside={
        <>
          <label className="flex items-center gap-1.5">
            <input type="checkbox" checked={all} onChange={(event) => void navigate({ search: (previous) => ({ ...previous, all: event.target.checked || undefined }), replace: true })} className="size-3.5 accent-(--accent)" />
            all
          </label>
          <label>
            <span className="sr-only">Find a setting</span>
            <input
              type="search"
              value={q}
              onChange={(event) => void navigate({ search: (previous) => ({ ...previous, q: event.target.value || undefined }), replace: true })}
              placeholder="Find a setting"
              className="h-8 w-40 rounded-lg border border-edge bg-panel px-2.5 text-xs text-ink placeholder:text-soft"
            />
          </label>
        </>
      }
    >
      <ErrorNotice error={settings.error} />
      <div className="max-h-[36rem] overflow-y-auto" tabIndex={0} role="group" aria-label="Settings">
      <dl>
        {rows.map((row) => (
          <div key={row.name} className="grid gap-x-4 border-b px-4 py-2 last:border-b-0 sm:grid-cols-[minmax(0,1fr)_minmax(0,10rem)]">
            <dt className="min-w-0">
              <span className="font-mono text-[0.8125rem]">{row.name}</span>
              <span className="block text-xs text-soft"><TextWithCode text={row.description} /></span>
            </dt>
            <dd className="min-w-0 font-mono text-[0.8125rem] sm:text-right">
              <UntrustedText text={row.value || "none"} className={row.value !== row.default ? "font-semibold text-ask" : ""} />
              {row.value !== row.default && <span className="block text-xs text-soft">default {row.default || "none"}</span>}
            </dd>
          </div>
        ))}
      </dl>
      </div>
    </Panel>
  );
}
