import { ImageOff } from "lucide-react";
import { useState } from "react";
import { pictureAddress } from "../api/client";
import type { Observation, Zone } from "../api/types";
import { readable } from "./invisible";
import { classes } from "./parts";
import { Window } from "./picture";
import { Said } from "./said";

/** What was seen: the masked picture with its zones, a drawing from their bounds, or, in worlds without places, a list. */
export function Scene({
  run,
  seen,
  target,
  zones = true,
  bare,
  picture: taken = seen,
}: {
  run: string;
  seen: Observation;
  /** The observation whose picture shows this, too; a page that did not change is not pictured again. */
  picture?: Pick<Observation, "id" | "screenshot" | "size">;
  target?: string;
  /** Whether to outline every zone, not only the target. */
  zones?: boolean;
  /** Only the picture, in small. */
  bare?: boolean;
}) {
  const [broken, setBroken] = useState("");
  const shot = seen.screenshot ? seen : taken;
  const picture = shot.screenshot && broken !== shot.screenshot ? pictureAddress(run, shot.id) : "";
  const size = seen.size ?? shot.size ?? null;
  const spoil = () => setBroken(shot.screenshot ?? "");
  const placed = seen.zones.filter((zone) => zone.bounds);
  if (bare)
    return placed.length || picture ? (
      <Placed seen={seen} size={size} placed={placed} picture={picture} zones={false} onBroken={spoil} bare />
    ) : (
      <Blocks zones={seen.zones} />
    );
  return (
    <Window
      title={
        <>
          <span className="min-w-0 truncate font-medium text-ink">
            <Said text={seen.surface.title || "untitled"} />
          </span>
          <span className="min-w-0 truncate font-mono">
            <Said text={seen.surface.address} />
          </span>
        </>
      }
    >
      {placed.length || picture ? (
        <Placed seen={seen} size={size} placed={placed} picture={picture} target={target} zones={zones} onBroken={spoil} />
      ) : (
        <Listed zones={seen.zones} target={target} />
      )}
    </Window>
  );
}

function extent(placed: Zone[]): [number, number] {
  let width = 480;
  let height = 120;
  for (const { bounds } of placed) {
    if (!bounds) continue;
    width = Math.max(width, bounds[0] + bounds[2]);
    height = Math.max(height, bounds[1] + bounds[3]);
  }
  return [width, height];
}

function Placed({
  seen,
  size,
  placed,
  picture,
  target,
  zones,
  onBroken,
  bare,
}: {
  seen: Observation;
  size: Observation["size"];
  placed: Zone[];
  picture: string;
  target?: string;
  zones: boolean;
  onBroken: () => void;
  bare?: boolean;
}) {
  const [natural, setNatural] = useState<[number, number] | null>(null);
  const [width, height] = size ?? ((picture && natural) || extent(placed));
  const margin = picture || size ? 0 : 12;
  const aim = placed.find((zone) => zone.id === target);
  return (
    <div className="relative" style={{ aspectRatio: `${width + 2 * margin} / ${height + 2 * margin}` }}>
      {picture && (
        <img
          src={picture}
          alt={bare ? "" : `Picture of ${readable(seen.surface.title || "the page")}, with secrets covered`}
          loading={bare ? "lazy" : "eager"}
          className="absolute inset-0 size-full"
          onError={onBroken}
          onLoad={({ currentTarget: shown }) => setNatural([shown.naturalWidth, shown.naturalHeight])}
        />
      )}
      <svg
        viewBox={`${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`}
        className="absolute inset-0 size-full"
        role={bare ? "presentation" : "img"}
        aria-label={bare ? undefined : `${placed.length} zones on ${readable(seen.surface.title || "the page")}${aim ? `; the step is aimed at ${aim.role} ${readable(aim.label)}` : ""}`}
      >
        {(picture ? zones : true) &&
          placed.map((zone) => zone.id !== target && <Outline key={zone.id} zone={zone} drawn={!picture} limit={[width, height]} />)}
        {aim && <Aim zone={aim} drawn={!picture} width={width} />}
      </svg>
    </div>
  );
}

const TYPED = new Set(["textbox", "searchbox", "input", "combobox", "spinbutton", "textarea", "field"]);

function Outline({ zone, drawn, limit }: { zone: Zone; drawn: boolean; limit: [number, number] }) {
  const [left, top, width, height] = zone.bounds as [number, number, number, number];
  if (left >= limit[0] || top >= limit[1] || left + width <= 0 || top + height <= 0) return null;
  const size = Math.max(9, Math.min(15, height * 0.55));
  const fits = Math.max(1, Math.floor((width - 8) / (size * 0.55)));
  const label = readable(zone.label);
  return (
    <g>
      <rect
        x={left}
        y={top}
        width={width}
        height={height}
        rx={3}
        fill={drawn ? (TYPED.has(zone.role) ? "var(--panel)" : "var(--sunken)") : "none"}
        stroke={drawn ? "var(--edge)" : "var(--accent)"}
        strokeOpacity={drawn ? 0.6 : 0.55}
        strokeWidth={1}
        vectorEffect="non-scaling-stroke"
      >
        <title>{`${zone.id} ${zone.role} ${label}`}</title>
      </rect>
      {drawn && width > 24 && (
        <text x={left + 5} y={top + height / 2} dominantBaseline="central" fontSize={size} fill="var(--ink)" opacity={0.85}>
          {label.length > fits ? `${label.slice(0, fits - 1)}…` : label}
        </text>
      )}
    </g>
  );
}

function Aim({ zone, drawn, width: whole }: { zone: Zone; drawn: boolean; width: number }) {
  const [left, top, width, height] = zone.bounds as [number, number, number, number];
  const label = readable(zone.label);
  const grow = Math.max(4, whole / 220);
  return (
    <g>
      <rect
        x={left - grow}
        y={top - grow}
        width={width + 2 * grow}
        height={height + 2 * grow}
        rx={6}
        fill={drawn ? "var(--ask-wash)" : "#f0a02c"}
        fillOpacity={drawn ? 1 : 0.16}
        stroke="#f0a02c"
        strokeWidth={3}
        vectorEffect="non-scaling-stroke"
      />
      {drawn && (
        <text x={left + 5} y={top + height / 2} dominantBaseline="central" fontSize={Math.max(9, Math.min(15, height * 0.55))} fill="var(--ink)" fontWeight={600}>
          {label.slice(0, Math.max(1, Math.floor((width - 8) / 7)))}
        </text>
      )}
    </g>
  );
}

/** Zones without places, as blocks. */
function Blocks({ zones }: { zones: readonly Zone[] }) {
  return (
    <span aria-hidden className="flex h-full flex-wrap content-start gap-1 overflow-hidden p-1.5 pb-5">
      {zones.slice(0, 14).map((zone) => (
        <span key={zone.id} className="h-2.5 rounded-sm bg-edge/35" style={{ width: `${Math.min(90, 14 + 3 * zone.label.length)}%` }} />
      ))}
    </span>
  );
}

function Listed({ zones, target }: { zones: Zone[]; target?: string }) {
  if (!zones.length)
    return (
      <p className="flex items-center justify-center gap-2 px-4 py-12 text-sm text-soft">
        <ImageOff aria-hidden className="size-4" />
        Nothing that can be acted on was visible.
      </p>
    );
  return (
    <ul className="grid max-h-96 gap-1.5 overflow-y-auto p-3 sm:grid-cols-2" tabIndex={0} aria-label="What was visible">
      {zones.map((zone) => {
        const aimed = zone.id === target;
        return (
          <li
            key={zone.id}
            className={classes(
              "flex min-w-0 items-baseline gap-2 rounded-md border px-2.5 py-1.5 text-sm",
              aimed ? "border-ask bg-ask-wash font-medium outline-2 outline-ask" : "bg-panel",
            )}
          >
            <span className="shrink-0 text-xs text-soft">{zone.role}</span>
            <Said text={zone.label} className="min-w-0" />
            {zone.state.length > 0 && (
              <span className="ml-auto min-w-0 truncate font-mono text-xs text-soft">
                <Said text={zone.state.map(([name, value]) => `${name}=${String(value)}`).join(" ")} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
