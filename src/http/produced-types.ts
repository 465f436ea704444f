import type { MediaType } from "../api/codec/representation.ts";
import { status } from "../api/status.ts";

/** Media types that upstream's router lists for a path, in its order. */
const documents: readonly MediaType[] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const collections = [...documents, "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

export const producedTypes = {
  /** Objects, and the answers of writes. */
  documents,
  /** Lists and watches. */
  collections,
  json: ["application/json"],
  /** Logs are text. Their errors are documents. */
  log: ["text/plain", ...documents],
} satisfies Record<string, readonly string[]>;

/** Maximum number of clauses of an Accept header that are read. */
const clausesMax = 32;

/**
 * Refuses types that upstream's router refuses before any handler. Compares types exactly and ignores parameters. The
 * other types are negotiated later.
 * @throws StatusError 406
 */
export function refuseUnproduced(accept: string | undefined, produced: readonly string[], cbor = false): void {
  if (accept === undefined || accept.trim() === "") return;
  const types = cbor ? [...produced, "application/cbor"] : produced;
  const isProduced = accept.split(",", clausesMax).some((clause) => {
    const semicolon = clause.indexOf(";");
    const type = (semicolon < 0 ? clause : clause.slice(0, semicolon)).trim();
    return type === "*/*" || types.includes(type);
  });
  if (!isProduced) throw status.noRouteForAccept(types);
}
