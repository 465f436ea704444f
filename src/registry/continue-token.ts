import { status } from "../api/status.ts";
import type { Key } from "../api/entry.ts";

/** Where a paged list goes on: the first key not yet sent, at the revision of the first page (-1: at the newest). */
export interface ContinueToken {
  readonly revision: number;
  readonly start: Key;
}

/** No token of ours is longer: a key has at most two names of 253 characters. */
const tokenLengthMax = 4096;

/** base64url of upstream's JSON form. `start` is cut to the part below the prefix, so that a token opens nothing else. */
export function encodeContinueToken({ revision, start }: ContinueToken, prefix: Key): string {
  if (!start.startsWith(prefix)) throw new Error(`continue key ${start} is outside ${prefix}`);
  const text = JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: start.slice(prefix.length) });
  return Buffer.from(text).toString("base64url");
}

/** @throws StatusError 400 when the token is not one of ours, or points outside `prefix` */
export function decodeContinueToken(token: string, prefix: Key): ContinueToken {
  const invalid = (why: string) => status.badRequest(`invalid continue token: continue key is not valid: ${why}`);
  if (token.length > tokenLengthMax) throw invalid("too long");
  if (!/^[A-Za-z0-9_-]+$/.test(token)) throw invalid("illegal base64 data");
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    throw invalid("not a JSON document");
  }
  if (typeof value !== "object" || value === null) throw invalid("not an object");
  const { v, rv, start } = value as { v?: unknown; rv?: unknown; start?: unknown };
  if (v !== "meta.k8s.io/v1") throw invalid(`server does not recognize this encoded version ${JSON.stringify(v)}`);
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) {
    throw invalid("incorrect encoded start resourceVersion");
  }
  if (typeof start !== "string" || start.length === 0) throw invalid("encoded start key empty");
  if (start.startsWith("/") || start.split("/").includes("..") || start.split("/").includes(".")) {
    throw invalid("encoded start key is not below the list");
  }
  return { revision: rv, start: prefix + start };
}
