import type { RunView, Spent } from "../api/types";
import { Panel } from "../ui/parts";
import { count, dollars, duration } from "../ui/time";

interface Role {
  name: string;
  calls: number;
  tokens: number;
  usd: number;
}

/** What each role cost, the dearest first. */
export function rolesOf(spent: readonly Spent[]): Role[] {
  const found = new Map<string, Role>();
  for (const { role, cost } of spent) {
    const name = role || "not known";
    const one = found.get(name) ?? { name, calls: 0, tokens: 0, usd: 0 };
    one.calls += cost.calls;
    one.tokens += cost.tokens;
    one.usd += cost.microusd / 1e6;
    found.set(name, one);
  }
  return [...found.values()].sort((a, b) => b.usd - a.usd || b.tokens - a.tokens || b.calls - a.calls);
}

export function Spend({ view, className }: { view: RunView; className?: string }) {
  const used = view.budget;
  const roles = rolesOf(view.spent);
  const most = Math.max(...roles.map((role) => role.usd || role.tokens || role.calls), 1e-9);
  return (
    <Panel className={className} title="Spend" aside={used.cost_usd > 0 && <span className="font-medium text-ink">{dollars(used.cost_usd)}</span>}>
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
                    <div className="h-2 min-w-1 rounded-full bg-accent" style={{ width: `${(100 * (role.usd || role.tokens || role.calls)) / most}%` }} />
                  </div>
                </td>
                <td className="py-1 pl-3 text-right text-xs whitespace-nowrap text-soft">
                  {role.usd > 0 && <span className="text-ink">{dollars(role.usd)} </span>}
                  {count(role.calls, "call")}
                  {role.tokens > 0 && `, ${count(role.tokens, "token")}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3 lg:grid-cols-2 xl:grid-cols-3">
        <Meter name="model calls" used={used.calls} most={used.max_calls} />
        <Meter name="plans" used={used.segments} most={used.max_segments} />
        <Meter name="replans" used={used.replans} most={used.max_replans} />
        <Meter name="after failures" used={used.error_replans} most={used.max_error_replans} />
        <Meter name="time" used={used.wall_seconds} most={used.max_wall_seconds} say={duration} />
        {(used.tokens > 0 || used.max_tokens !== null) && <Meter name="tokens" used={used.tokens} most={used.max_tokens} />}
        {(used.cost_usd > 0 || used.max_cost_usd !== null) && <Meter name="cost" used={used.cost_usd} most={used.max_cost_usd} say={dollars} />}
      </dl>
    </Panel>
  );
}

const plain = (value: number) => value.toLocaleString("en");

function Meter({ name, used, most, say = plain }: { name: string; used: number; most: number | null; say?: (value: number) => string }) {
  const share = most ? Math.min(1, used / most) : 0;
  return (
    <div className="min-w-0">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="text-sm">
        {say(used)}
        {most !== null && <span className="text-soft"> of {say(most)}</span>}
        {most !== null && (
          <div className="mt-1 h-1 rounded-full bg-sunken" aria-hidden>
            <div className={`h-1 rounded-full ${share > 0.8 ? "bg-bad" : "bg-accent"}`} style={{ width: `${100 * share}%` }} />
          </div>
        )}
      </dd>
    </div>
  );
}
