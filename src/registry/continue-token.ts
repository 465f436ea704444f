import { JsonSyntaxError, parseJson } from "../api/codec/json.ts";
import type { Key } from "../api/entry.ts";
import { isJsonObject, type JsonValue } from "../api/json.ts";
import { jsonTypeName } from "../api/json-type-name.ts";
import { type StatusError, status } from "../api/status.ts";

/**
 * Position at which a paged list continues: the first key not yet sent, at the revision of the first page (-1 for the
 * newest).
 */
export interface ContinueToken {
  readonly revision: number;
  readonly start: Key;
}

/** Maximum length of a token. Ours are shorter, because a key has at most two names of 253 characters. */
const tokenLengthMax = 4096;

const tokenVersion = "meta.k8s.io/v1";

/**
 * Encodes a token as base64url of upstream's JSON form. `start` is stored without the prefix, so that a token gives
 * access to nothing else.
 */
export function encodeContinueToken({ revision, start }: ContinueToken, prefix: Key): string {
  if (!start.startsWith(prefix)) throw new Error(`continue key ${start} is outside ${prefix}`);
  const text = JSON.stringify({ v: tokenVersion, rv: revision, start: start.slice(prefix.length) });
  return Buffer.from(text).toString("base64url");
}

/** @throws StatusError 400 when the token is not one of ours */
export function refuseBadToken(token: string): void {
  decodeContinueToken(token, "");
}

/** @throws StatusError 400 when the token is not one of ours, or points outside `prefix` */
export function decodeContinueToken(token: string, prefix: Key): ContinueToken {
  if (token.length > tokenLengthMax) throw invalid(": too long");
  const stray = /[^A-Za-z0-9_-]/.exec(token);
  if (stray !== null) throw invalid(`: illegal base64 data at input byte ${stray.index}`);
  if (token.length % 4 === 1) throw invalid(`: illegal base64 data at input byte ${token.length - 1}`);
  const { v, rv, start } = parseToken(Buffer.from(token, "base64url"));
  if (v !== tokenVersion) throw invalid(`: server does not recognize this encoded version ${v}`);
  if (!Number.isSafeInteger(rv) || rv === 0 || rv < -1) {
    throw invalid(`: incorrect encoded start resourceVersion (version ${tokenVersion})`);
  }
  if (start === "") throw invalid(`: encoded start key empty (version ${tokenVersion})`);
  const path = start.startsWith("/") ? start.slice(1) : start;
  const segments = path.split("/");
  const isClean = segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  if (!isClean) throw invalid(`: ${start}`);
  return { revision: rv, start: prefix + path };
}

/** A field that is absent or null has the zero value, as in Go. */
function parseToken(bytes: Uint8Array): { readonly v: string; readonly rv: number; readonly start: string } {
  try {
    const { value } = parseJson(bytes, { strict: false });
    if (!isJsonObject(value)) throw unreadable(value, "value of type storage.continueToken");
    const { v, rv, start } = value;
    if (typeof (v ?? "") !== "string") throw unreadable(v, "struct field continueToken.v of type string");
    if (typeof (rv ?? 0) !== "number") throw unreadable(rv, "struct field continueToken.rv of type int64");
    if (typeof (start ?? "") !== "string") throw unreadable(start, "struct field continueToken.start of type string");
    return { v: (v ?? "") as string, rv: (rv ?? 0) as number, start: (start ?? "") as string };
  } catch (error) {
    throw error instanceof JsonSyntaxError ? invalid(`: ${error.message}`) : error;
  }
}

function unreadable(value: JsonValue | undefined, target: string): StatusError {
  return invalid(`: json: cannot unmarshal ${jsonTypeName(value)} into Go ${target}`);
}

function invalid(why: string): StatusError {
  return status.badRequest(`invalid continue token: continue key is not valid${why}`);
}
