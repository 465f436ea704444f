import { TextError } from "../../api/status.ts";

/** A request target, decoded once: authorization and routing see the same segments. */
export interface RequestTarget {
  /** Decoded path segments, without the empty ones before the first slash and after the last. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** @throws TextError 400 for a path that two programs could read differently */
export function parseTarget(rawPath: string): RequestTarget {
  const mark = rawPath.indexOf("?");
  const path = mark === -1 ? rawPath : rawPath.slice(0, mark);
  const segments = path.slice(1).split("/").map(decoded);
  if (segments.at(-1) === "") segments.pop();
  return { segments, query: new URLSearchParams(mark === -1 ? "" : rawPath.slice(mark + 1)) };
}

function decoded(segment: string): string {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    throw new TextError(400, "malformed path");
  }
  const isAmbiguous = text === "." || text === ".." || /[/\\\0]/.test(text);
  if (isAmbiguous) throw new TextError(400, "malformed path");
  return text;
}
