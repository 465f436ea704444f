import type { MemberNumber, MemberRecord } from "../cluster.ts";

/**
 * The layout of the data directory and of everything in it. A higher one is refused, never guessed at.
 *
 *     1   a replica that is alone, without a log
 *     2   a log, and which member this is
 *     3   the index of an object has its owners: see `index-text.ts`
 */
export const formatVersion = 3;

export const firstDatabase = "state";

/** What `identity.json` says. The id stands in the database too: a directory put together from two is found out. */
export interface Identity {
  readonly format: number;
  readonly id: string;
  /** `new` until the database was created and holds the id; from then on a missing database is a loss. */
  readonly state: "new" | "ready";
  /** The folder of the database; another one when a snapshot has taken its place. */
  readonly database: string;
  /** Which member of which cluster this is; undefined in a directory of format 1, which had none. */
  readonly member: MemberIdentity | undefined;
}

export interface MemberIdentity {
  readonly clusterId: string;
  readonly id: MemberNumber;
  /** Whom a member that has joined knows before it has the state. */
  readonly seeds: readonly MemberRecord[];
}

export function encodeIdentity(identity: Identity): string {
  return `${JSON.stringify(identity)}\n`;
}

/** Undefined when the text is not an identity. */
export function parseIdentity(text: string): Identity | undefined {
  const document = parseObject(text);
  if (document === undefined) return undefined;
  const { format, id, state, database = firstDatabase, member } = document;
  if (typeof format !== "number" || !Number.isSafeInteger(format) || format < 1) return undefined;
  // A later format may say the rest in another way; that it is later is all that matters then.
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
