import type { RunView, Spent } from "../api/types";
import { Panel } from "../ui/components";
import { formatCount, formatDollars, formatDuration } from "../ui/format";

interface RoleCost {
  name: string;
  calls: number;
  tokens: number;
  usd: number;
}

/** Sums the cost of each role, the most expensive first. */
export function sumByRole(spent: readonly Spent[]): RoleCost[] {
  const roles = new Map<string, RoleCost>();
  for (const { role: roleName, cost } of spent) {
    const name = roleName || "unknown";
    const role = roles.get(name) ?? { name, calls: 0, tokens: 0, usd: 0 };
    role.calls += cost.calls;
    role.tokens += cost.tokens;
    role.usd += cost.microusd / 1e6;
    roles.set(name, role);
  }
  return [...roles.values()].sort((a, b) => b.usd - a.usd || b.tokens - a.tokens || b.calls - a.calls);
}

/** What the run has used of its budget. */
export function Spend({ view, className }: { view: RunView; className?: string }) {
  const used = view.budget;
  const roles = sumByRole(view.spent);
  const highest = Math.max(...roles.map((role) => role.usd || role.tokens || role.calls), 1e-9);
  return (
    <Panel className={className} title="Spend" aside={used.cost_usd > 0 && <span className="font-medium text-ink">{formatDollars(used.cost_usd)}</span>}>
      {roles.length > 0 && (
        <table className="mb-4 w-full text-sm">
          <caption className="sr-only">Spend by role</caption>
          <tbody>
            {roles.map((role) => (
              <tr key={role.name} className="align-middle">
                <th scope="row" className="py-1 pr-3 text-left font-normal whitespace-nowrap">
                  {role.name}
                </th>
                <td className="w-full py-1">
                  <div className="h-2 rounded-full bg-sunken" aria-hidden>
                    <div className="h-2 min-w-1 rounded-full bg-accent" style={{ width: `${(100 * (role.usd || role.tokens || role.calls)) / highest}%` }} />
                  </div>
                </td>
                <td className="py-1 pl-3 text-right text-xs whitespace-nowrap text-soft">
                  {role.usd > 0 && <span className="text-ink">{formatDollars(role.usd)} </span>}
                  {formatCount(role.calls, "call")}
                  {role.tokens > 0 && `, ${formatCount(role.tokens, "token")}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3 lg:grid-cols-2 xl:grid-cols-3">
        <Meter name="model calls" used={used.calls} limit={used.max_calls} />
        <Meter name="plans" used={used.segments} limit={used.max_segments} />
        <Meter name="replans" used={used.replans} limit={used.max_replans} />
        <Meter name="replans after failures" used={used.error_replans} limit={used.max_error_replans} />
        <Meter name="time" used={used.wall_seconds} limit={used.max_wall_seconds} format={formatDuration} />
        {(used.tokens > 0 || used.max_tokens !== null) && <Meter name="tokens" used={used.tokens} limit={used.max_tokens} />}
        {(used.cost_usd > 0 || used.max_cost_usd !== null) && <Meter name="cost" used={used.cost_usd} limit={used.max_cost_usd} format={formatDollars} />}
      </dl>
    </Panel>
  );
}

const formatNumber = (value: number) => value.toLocaleString("en");

/** A used amount, with a bar if it has a limit. */
function Meter({ name, used, limit, format = formatNumber }: { name: string; used: number; limit: number | null; format?: (value: number) => string }) {
  const share = limit ? Math.min(1, used / limit) : 0;
  return (
    <div className="min-w-0">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="text-sm">
        {format(used)}
        {limit !== null && <span className="text-soft"> of {format(limit)}</span>}
        {limit !== null && (
          <div className="mt-1 h-1 rounded-full bg-sunken" aria-hidden>
            <div className={`h-1 rounded-full ${share > 0.8 ? "bg-bad" : "bg-accent"}`} style={{ width: `${100 * share}%` }} />
          </div>
        )}
      </dd>
    </div>
  );
}
