import type { Entry } from "../entry.ts";
import { apiVersionOf, type GroupVersionKind } from "../gvk.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject } from "../object-meta.ts";
import { fromStorage } from "../scheme/conversion/convert.ts";
import { type ResourceInfo, storedInfo } from "../scheme/resource.ts";
import { copyOfBytes, indexOfBytes, toBytes, toText } from "./byte-text.ts";
import { parseStoredBody, parseStoredBodyInSteps } from "./field-set-documents.ts";

/** `{"kind":"Pod","apiVersion":"v1",` for each kind, to be put before a stored body without its brace. */
const typePrefixes = new WeakMap<GroupVersionKind, Uint8Array>();

export function typePrefix(gvk: GroupVersionKind): Uint8Array {
  let prefix = typePrefixes.get(gvk);
  if (prefix === undefined) {
    prefix = toBytes(`{"kind":${JSON.stringify(gvk.kind)},"apiVersion":${JSON.stringify(apiVersionOf(gvk))},`);
    typePrefixes.set(gvk, prefix);
  }
  return prefix;
}

/**
 * Puts a stored body between other bytes, without its opening brace: `before` ends where its first field begins. Stored
 * bodies are joined without a view of them (see `copyOfBytes`).
 */
export function embedBody(before: readonly Uint8Array[], { body }: Entry, after: Uint8Array): Uint8Array {
  let bodyAt = -1;
  for (const part of before) bodyAt += part.length;
  const joined = Buffer.allocUnsafeSlow(bodyAt + body.length + after.length);
  joined.set(body, bodyAt);
  let at = 0;
  for (const part of before) {
    joined.set(part, at);
    at += part.length;
  }
  joined.set(after, bodyAt + body.length);
  return joined;
}

/** Decodes a stored body to a document without kind and apiVersion. */
export function decodeBody(entry: Entry): JsonObject {
  return parseStoredBody(toText(entry.body)) as JsonObject;
}

/** Does the same, and yields between its parts. */
export function* decodeBodyInSteps(entry: Entry): Generator<void, JsonObject> {
  return (yield* parseStoredBodyInSteps(toText(entry.body))) as JsonObject;
}

/** Reports whether the stored bytes of a kind are also those of the served version, apart from kind and apiVersion. */
export function servesStoredBytes({ storedAs }: ResourceInfo): boolean {
  return storedAs?.conversion === undefined;
}

/** Decodes a stored body in its stored form, whichever version is served. */
export function decodeStored(entry: Entry, info: ResourceInfo): KubeObject {
  return decodeEntry(entry, storedInfo(info));
}

/** Does the same, and yields between its parts. */
export function* decodeStoredInSteps(entry: Entry, info: ResourceInfo): Generator<void, KubeObject> {
  const { kind, group, version } = storedInfo(info);
  const apiVersion = apiVersionOf({ group, version });
  return { kind, apiVersion, ...(yield* decodeBodyInSteps(entry)) } as unknown as KubeObject;
}

/** Decodes a stored body as an object of the served version. */
export function decodeServed(entry: Entry, info: ResourceInfo): KubeObject {
  return fromStorage(decodeStored(entry, info), info);
}

/**
 * Decodes a stored body as lists of the served version contain it: without kind and apiVersion, except for custom
 * resources.
 */
export function decodeItem(entry: Entry, info: ResourceInfo): JsonObject {
  if (info.form.kind === "structural") return decodeServed(entry, info) as unknown as JsonObject;
  if (servesStoredBytes(info)) return decodeBody(entry);
  const { kind: _kind, apiVersion: _apiVersion, ...body } = decodeServed(entry, info) as unknown as JsonObject;
  return body;
}

/** Decodes a stored body as an object of the version in which it was written. */
export function decodeAsWritten(entry: Entry, { kind }: GroupVersionKind): KubeObject {
  return { kind, apiVersion: entry.index.apiVersion, ...decodeBody(entry) } as unknown as KubeObject;
}

/** Decodes a stored body as an object of the given kind. */
export function decodeEntry(entry: Entry, gvk: GroupVersionKind): KubeObject {
  return { kind: gvk.kind, apiVersion: apiVersionOf(gvk), ...decodeBody(entry) } as unknown as KubeObject;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Copies the bytes of `metadata` out of a stored body. */
export function metadataBytes(entry: Entry): Uint8Array {
  const start = metadataStart(entry.body);
  return copyOfBytes(entry.body, start, metadataEnd(entry, start));
}

/** Reports whether a stored body contains these bytes. */
export function bodyIncludes({ body }: Entry, sought: Uint8Array): boolean {
  return indexOfBytes(body, sought) >= 0;
}

/** Reports whether the metadata of a stored body contains these bytes. */
export function metadataIncludes(entry: Entry, sought: Uint8Array): boolean {
  const at = indexOfBytes(entry.body, sought);
  return at >= 0 && at < metadataEnd(entry, metadataStart(entry.body));
}

/** The body starts with `{"metadata":{`. */
function metadataStart(body: Uint8Array): number {
  return body.indexOf(openBrace, 1);
}

/** Finds the end of the metadata. Never reads what comes after it. */
function metadataEnd({ key, body }: Entry, start: number): number {
  let depth = 0;
  for (let at = start; at < body.length; at++) {
    const byte = body[at];
    if (byte === quote) at = endOfString(body, at);
    else if (byte === openBrace) depth++;
    else if (byte === closeBrace && --depth === 0) return at + 1;
  }
  throw new Error(`stored body of ${key} does not start with its metadata`);
}

function endOfString(body: Uint8Array, start: number): number {
  for (let at = start + 1; at < body.length; at++) {
    if (body[at] === backslash) at++;
    else if (body[at] === quote) return at;
  }
  return body.length;
}
