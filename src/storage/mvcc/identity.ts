/** The layout of the data directory and of everything in it. A higher one is refused, never guessed at. */
export const formatVersion = 1;

/** What `identity.json` says. The id stands in the database too: a directory put together from two is found out. */
export interface Identity {
  readonly format: number;
  readonly id: string;
  /** `new` until the database was created and holds the id; from then on a missing database is a loss. */
  readonly state: "new" | "ready";
}

export function encodeIdentity(identity: Identity): string {
  return `${JSON.stringify(identity)}\n`;
}

/** Undefined when the text is not an identity. */
export function parseIdentity(text: string): Identity | undefined {
  const document = parseObject(text);
  if (document === undefined) return undefined;
  const { format, id, state } = document;
  if (typeof format !== "number" || !Number.isSafeInteger(format) || format < 1) return undefined;
  // A later format may say the rest in another way; that it is later is all that matters then.
  if (format > formatVersion) return { format, id: String(id), state: "ready" };
  if (typeof id !== "string" || id === "" || (state !== "new" && state !== "ready")) return undefined;
  return { format, id, state };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === "object" && document !== null ? (document as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
