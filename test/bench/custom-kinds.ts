import type { JsonObject } from "../../src/api/json.ts";
import { namespace, objectName } from "./documents.ts";

const groups = 50;
const shards = 100;
const fieldBytes = 50;
/** A schema with 30 described fields. It makes a definition of 3 KiB. */
const fields: JsonObject = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [
    `field${at}`,
    { type: "string", maxLength: 200, description: `The field with the number ${at}, described in a few words.` },
  ]),
);

export interface BenchKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** Returns a kind in one of 50 groups. */
export function benchKind(name: string, number: number): BenchKind {
  return { group: `g${number % groups}.example.com`, plural: `${name}s`, kind: `K${name}` };
}

export function definitionOf({ group, plural, kind }: BenchKind): JsonObject {
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: fields } } };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: "Namespaced", names: { plural, kind }, versions: [version] },
  };
}

/** Returns an object of about 2 KiB that sets all fields, each to a value of its own. */
export function customObject({ group, kind }: BenchKind, number: number): JsonObject {
  const spec = Object.fromEntries(
    Object.keys(fields).map((field) => [field, crypto.randomUUID().padEnd(fieldBytes, "-")]),
  );
  const metadata = { name: objectName(number), namespace, labels: { app: "bench", shard: `s${number % shards}` } };
  return { apiVersion: `${group}/v1`, kind, metadata, spec };
}
