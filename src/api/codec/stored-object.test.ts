import { expect, test } from "bun:test";
import { splitAtResourceVersion } from "../../storage/resource-version-gap.ts";
import type { Entry } from "../entry.ts";
import { toRevision } from "../revision.ts";
import { toBytes, toText } from "./byte-text.ts";
import { decodeBody, embedBody, metadataBytes, metadataIncludes } from "./stored-object.ts";

/** Bytes of which nobody may make a view: a view gives them an ArrayBuffer for as long as they live. */
class Unviewed extends Uint8Array {
  override subarray(): never {
    throw new Error("a view was made");
  }
  override get buffer(): never {
    throw new Error("the buffer was asked for");
  }
}

function entryOf(text: string): Entry {
  const bytes = toBytes(text);
  const body = new Unviewed(bytes.length);
  body.set(bytes);
  const index = { apiVersion: "v1", uid: "", labels: undefined, fields: undefined, owners: undefined };
  return { key: "/registry/pods/default/a", revision: toRevision(7), createRevision: toRevision(7), index, body };
}

const metadata = '{"name":"ä","resourceVersion":"7","annotations":{"x":"}\\"{"}}';
const entry = entryOf(`{"metadata":${metadata},"spec":{"deletionTimestamp":"x"}}`);

test("a stored body is embedded, cut and searched without a view of it", () => {
  const joined = embedBody([toBytes("1"), toBytes('{"kind":"Pod",')], entry, toBytes("\n"));
  expect(toText(joined)).toBe(`1{"kind":"Pod","metadata":${metadata},"spec":{"deletionTimestamp":"x"}}\n`);
  expect(toText(metadataBytes(entry))).toBe(metadata);
  expect(Object.keys(decodeBody(entry))).toEqual(["metadata", "spec"]);
  const { prefix, suffix } = splitAtResourceVersion(entry.body);
  expect(`${toText(prefix)}7${toText(suffix)}`).toBe(toText(entry.body));
});

test("metadata is searched, and nothing behind it", () => {
  expect(metadataIncludes(entry, toBytes('"annotations":'))).toBe(true);
  expect(metadataIncludes(entry, toBytes('"deletionTimestamp":'))).toBe(false);
  expect(metadataIncludes(entry, toBytes('"missing":'))).toBe(false);
});
