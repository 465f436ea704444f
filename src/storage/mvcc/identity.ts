import type { MemberNumber, MemberRecord } from "../cluster.ts";

/**
 * The format of the data directory and of everything in it. A higher one is rejected.
 *
 *     1   a replica that is alone, without a log
 *     2   a log, and the member's number
 *     3   the index of an object has its owners: see `index-text.ts`
 */
export const formatVersion = 3;

export const firstDatabase = "state";

/** The contents of `identity.json`. The database holds the id too, to detect a directory that was assembled from two. */
export interface Identity {
  readonly format: number;
  readonly id: string;
  /** `new` until the database exists and holds the id. From then on, a missing database means data loss. */
  readonly state: "new" | "ready";
  /** The folder of the database. It changes when a snapshot replaces the database. */
  readonly database: string;
  /** The member and its cluster; undefined in a directory of format 1, which recorded neither. */
  readonly member: MemberIdentity | undefined;
}

export interface MemberIdentity {
  readonly clusterId: string;
  readonly id: MemberNumber;
  /** Members that a joining member knows before it receives the state. */
  readonly seeds: readonly MemberRecord[];
}

export function encodeIdentity(identity: Identity): string {
  return `${JSON.stringify(identity)}\n`;
}

/** Parses an identity. Returns undefined for any other text. */
export function parseIdentity(text: string): Identity | undefined {
  const document = parseObject(text);
  if (document === undefined) return undefined;
  const { format, id, state, database = firstDatabase, member } = document;
  if (typeof format !== "number" || !Number.isSafeInteger(format) || format < 1) return undefined;
  // A later format may store other fields. Only the format number matters then.
  if (format > formatVersion) return { format, id: String(id), state: "ready", database: "", member: undefined };
  if (typeof id !== "string" || id === "" || (state !== "new" && state !== "ready")) return undefined;
  if (typeof database !== "string" || !/^[a-z0-9-]+$/.test(database)) return undefined;
  if (format === 1) return { format, id, state, database, member: undefined };
  return isMember(member) ? { format, id, state, database, member } : undefined;
}

function isMember(value: unknown): value is MemberIdentity {
  const { clusterId, id, seeds } = (value ?? {}) as Partial<MemberIdentity>;
  return typeof clusterId === "string" && clusterId !== "" && Number.isSafeInteger(id) && Array.isArray(seeds);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === "object" && document !== null ? (document as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
