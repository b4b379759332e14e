import type { Scalar } from "../api/types";

/** Parses a typed text into a value of the same type as `original`: the number 2 and the text "2" are sent differently. */
export function parseScalar(text: string, original: Scalar | undefined): Scalar {
  if (typeof original === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (typeof original === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
