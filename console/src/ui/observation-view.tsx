import { ImageOff } from "lucide-react";
import { useState } from "react";
import { pictureUrl } from "../api/client";
import type { Observation, Zone } from "../api/types";
import { spellOutInvisible } from "./invisible-characters";
import { joinClasses } from "./components";
import { WindowFrame } from "./live-picture";
import { UntrustedText } from "./untrusted-text";

/** An observation: its masked picture with the zones outlined. Without a picture the zones are drawn; without bounds they are listed. */
export function ObservationView({
  run,
  observation,
  target,
  zones = true,
  thumbnail,
  pictured = observation,
}: {
  run: string;
  observation: Observation;
  /** The observation that has the picture: a screen that did not change is not pictured again. */
  pictured?: Pick<Observation, "id" | "screenshot" | "size">;
  target?: string;
  /** Whether to outline every zone, not only the target. */
  zones?: boolean;
  /** Only a small picture, without frame and labels. */
  thumbnail?: boolean;
}) {
  const [broken, setBroken] = useState("");
  const source = observation.screenshot ? observation : pictured;
  const picture = source.screenshot && broken !== source.screenshot ? pictureUrl(run, source.id) : "";
  const size = observation.size ?? source.size ?? null;
  const hidePicture = () => setBroken(source.screenshot ?? "");
  const positioned = observation.zones.filter((zone) => zone.bounds);
  if (thumbnail)
    return positioned.length || picture ? (
      <ZoneMap observation={observation} size={size} positioned={positioned} picture={picture} zones={false} onBroken={hidePicture} thumbnail />
    ) : (
      <ZoneBlocks zones={observation.zones} />
    );
  return (
    <WindowFrame
      title={
        <>
          <span className="min-w-0 truncate font-medium text-ink">
            <UntrustedText text={observation.surface.title || "untitled"} />
          </span>
          <span className="min-w-0 truncate font-mono">
            <UntrustedText text={observation.surface.address} />
          </span>
        </>
      }
    >
      {positioned.length || picture ? (
        <ZoneMap observation={observation} size={size} positioned={positioned} picture={picture} target={target} zones={zones} onBroken={hidePicture} />
      ) : (
        <ZoneList zones={observation.zones} target={target} />
      )}
    </WindowFrame>
  );
}

function measureExtent(positioned: Zone[]): [number, number] {
  let width = 480;
  let height = 120;
  for (const { bounds } of positioned) {
    if (!bounds) continue;
    width = Math.max(width, bounds[0] + bounds[2]);
    height = Math.max(height, bounds[1] + bounds[3]);
  }
  return [width, height];
}

/** The zones at their positions, on the picture if there is one. */
function ZoneMap({
  observation,
  size,
  positioned,
  picture,
  target,
  zones,
  onBroken,
  thumbnail,
}: {
  observation: Observation;
  size: Observation["size"];
  positioned: Zone[];
  picture: string;
  target?: string;
  zones: boolean;
  onBroken: () => void;
  thumbnail?: boolean;
}) {
  const [natural, setNatural] = useState<[number, number] | null>(null);
  const [width, height] = size ?? ((picture && natural) || measureExtent(positioned));
  const margin = picture || size ? 0 : 12;
  const targetZone = positioned.find((zone) => zone.id === target);
  return (
    <div className="relative" style={{ aspectRatio: `${width + 2 * margin} / ${height + 2 * margin}` }}>
      {picture && (
        <img
          src={picture}
          alt={thumbnail ? "" : `Picture of ${spellOutInvisible(observation.surface.title || "the page")}, with secrets covered`}
          loading={thumbnail ? "lazy" : "eager"}
          className="absolute inset-0 size-full"
          onError={onBroken}
          onLoad={({ currentTarget: image }) => setNatural([image.naturalWidth, image.naturalHeight])}
        />
      )}
      <svg
        viewBox={`${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`}
        className="absolute inset-0 size-full"
        role={thumbnail ? "presentation" : "img"}
        aria-label={thumbnail ? undefined : `${positioned.length} zones on ${spellOutInvisible(observation.surface.title || "the page")}${targetZone ? `; the target of the step is ${targetZone.role} ${spellOutInvisible(targetZone.label)}` : ""}`}
      >
        {(picture ? zones : true) &&
          positioned.map((zone) => zone.id !== target && <ZoneOutline key={zone.id} zone={zone} drawn={!picture} limit={[width, height]} />)}
        {targetZone && <TargetOutline zone={targetZone} drawn={!picture} width={width} />}
      </svg>
    </div>
  );
}

const TEXT_INPUT_ROLES = new Set(["textbox", "searchbox", "input", "combobox", "spinbutton", "textarea", "field"]);

function ZoneOutline({ zone, drawn, limit }: { zone: Zone; drawn: boolean; limit: [number, number] }) {
  const [left, top, width, height] = zone.bounds as [number, number, number, number];
  if (left >= limit[0] || top >= limit[1] || left + width <= 0 || top + height <= 0) return null;
  const size = Math.max(9, Math.min(15, height * 0.55));
  const fits = Math.max(1, Math.floor((width - 8) / (size * 0.55)));
  const label = spellOutInvisible(zone.label);
  return (
    <g>
      <rect
        x={left}
        y={top}
        width={width}
        height={height}
        rx={3}
        fill={drawn ? (TEXT_INPUT_ROLES.has(zone.role) ? "var(--panel)" : "var(--sunken)") : "none"}
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

function TargetOutline({ zone, drawn, width: sceneWidth }: { zone: Zone; drawn: boolean; width: number }) {
  const [left, top, width, height] = zone.bounds as [number, number, number, number];
  const label = spellOutInvisible(zone.label);
  const grow = Math.max(4, sceneWidth / 220);
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

/** Zones without bounds, as gray blocks, for a thumbnail. */
function ZoneBlocks({ zones }: { zones: readonly Zone[] }) {
  return (
    <span aria-hidden className="flex h-full flex-wrap content-start gap-1 overflow-hidden p-1.5 pb-5">
      {zones.slice(0, 14).map((zone) => (
        <span key={zone.id} className="h-2.5 rounded-sm bg-edge/35" style={{ width: `${Math.min(90, 14 + 3 * zone.label.length)}%` }} />
      ))}
    </span>
  );
}

function ZoneList({ zones, target }: { zones: Zone[]; target?: string }) {
  if (!zones.length)
    return (
      <p className="flex items-center justify-center gap-2 px-4 py-12 text-sm text-soft">
        <ImageOff aria-hidden className="size-4" />
        The run saw nothing that it could act on.
      </p>
    );
  return (
    <ul className="grid max-h-96 gap-1.5 overflow-y-auto p-3 sm:grid-cols-2" tabIndex={0} aria-label="What was visible">
      {zones.map((zone) => {
        const isTarget = zone.id === target;
        return (
          <li
            key={zone.id}
            className={joinClasses(
              "flex min-w-0 items-baseline gap-2 rounded-md border px-2.5 py-1.5 text-sm",
              isTarget ? "border-ask bg-ask-wash font-medium outline-2 outline-ask" : "bg-panel",
            )}
          >
            <span className="shrink-0 text-xs text-soft">{zone.role}</span>
            <UntrustedText text={zone.label} className="min-w-0" />
            {zone.state.length > 0 && (
              <span className="ml-auto min-w-0 truncate font-mono text-xs text-soft">
                <UntrustedText text={zone.state.map(([name, value]) => `${name}=${String(value)}`).join(" ")} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
