import { encodeMessage, wrapUnknown } from "../../src/api/codec/protobuf.ts";
import type { JsonObject } from "../../src/api/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { toRevision } from "../../src/api/revision.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import type { ResourceInfo } from "../../src/api/scheme/resource.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { encodeForStore } from "../../src/storage/encode-for-store.ts";
import { openAlone } from "../contract/open-alone.ts";

export const namespace = "default";
export const collection = `/api/v1/namespaces/${namespace}/configmaps`;
/** Objects have labels from `shard: s0` to `s99`, so a selector of one shard matches one object in a hundred. */
const shards = 100;
const payloadBytes = 1_700;
/** Objects of one application have the same key names, as in a real cluster. */
const applications = 200;
const seedBatch = 2_000;

/** Returns a stream of numbers in [0, 1) that depends only on the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function objectName(number: number): string {
  return `object-${String(number).padStart(7, "0")}`;
}

/**
 * Returns a ConfigMap of about 2 KiB. Every one is different, because identical documents favour parsers and caches.
 * @param application determines the key names; by default one of 200
 */
export function document(number: number, application = number % applications): KubeObject {
  const random = randomFrom(number + 1);
  const names = randomFrom(application + 1);
  const data: Record<string, string> = {};
  for (let bytes = 0, at = 0; bytes < payloadBytes; at++) {
    const value = words(random, 4 + Math.floor(random() * 12));
    data[`key-${at}-${Math.floor(names() * 1_000_000)}`] = value;
    bytes += value.length + 16;
  }
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: objectName(number), namespace, labels: { app: "bench", shard: `s${number % shards}` } },
    data,
  } as unknown as KubeObject;
}

export const jsonType = "application/json";
export const protobufType = "application/vnd.kubernetes.protobuf";

/** Returns a ConfigMap as a request body, as JSON or in protobuf. */
export function encodedDocument(object: KubeObject, type: string): string | Uint8Array {
  if (type === jsonType) return JSON.stringify(object);
  const schema = structOf(Scheme.builtIn().find("", "v1", "configmaps") as ResourceInfo);
  return wrapUnknown({ apiVersion: "v1", kind: "ConfigMap" }, encodeMessage(schema, { ...object }));
}

function words(random: () => number, count: number): string {
  return Array.from({ length: count }, () => Math.floor(random() * 36 ** 6).toString(36)).join(" ");
}

/** Writes `count` ConfigMaps directly to a data directory, the fastest way to make a large store. */
export async function seedDirectory(directory: string, count: number): Promise<void> {
  const info = Scheme.builtIn().find("", "v1", "configmaps") as ResourceInfo;
  const store = await openAlone({ directory });
  for (let from = 0; from < count; from += seedBatch) {
    const batch = Array.from({ length: Math.min(seedBatch, count - from) }, (_, at) => storedObject(from + at, info));
    await Promise.all(
      batch.map((object) =>
        store.commit({
          key: `${info.keyPrefix}${namespace}/${object.metadata.name}`,
          expect: { kind: "absent" },
          operation: { kind: "put", ...encodeForStore(object, info) },
        }),
      ),
    );
  }
  await store.compact(toRevision(store.revision));
  await store.close();
}

/** Returns the object as the server would store it: with its fields and keys in order. */
function storedObject(number: number, { form, kind }: ResourceInfo): KubeObject {
  const object = document(number);
  object.metadata.uid = crypto.randomUUID();
  object.metadata.creationTimestamp = "2026-01-01T00:00:00Z";
  return form.decode(object as unknown as JsonObject, { kind }).object as unknown as KubeObject;
}
