import { describe, expect, test } from "bun:test";
import { decodeCbor, encodeCbor } from "../../src/api/codec/cbor.ts";
import { parseJson, stringifyJson } from "../../src/api/codec/json.ts";
import { decodeMessage, encodeMessage } from "../../src/api/codec/protobuf.ts";
import { transcodeMessage } from "../../src/api/codec/transcode-message.ts";
import { apiVersionOf } from "../../src/api/gvk.ts";
import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { decodeTyped } from "../../src/api/schema/decode.ts";
import type { StructSchema } from "../../src/api/schema/schema.ts";
import { fromStorage, toStorage } from "../../src/api/scheme/conversion/convert.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import { type ResourceInfo, storedInfo } from "../../src/api/scheme/resource.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { Chance, randomObject } from "./random-object.ts";

/** `SEED=<n>` replays a run. */
const seed = Number(Bun.env["SEED"] ?? Date.now() % 2 ** 31);
const objectsPerType = 12;

const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });
const roots = new Map<string, StructSchema>();
for (const info of scheme.resources) {
  for (const { form } of [info, ...info.subresources.values()]) roots.set(structOf({ form }).name, structOf({ form }));
}
for (const name of ["DeleteOptions", "CreateOptions", "PatchOptions", "UpdateOptions", "Status", "LabelSelector"]) {
  roots.set(`meta/v1.${name}`, scheme.typeSchema(`meta/v1.${name}`));
}

function typed(schema: StructSchema, object: JsonObject): JsonObject {
  const decoded = decodeTyped(schema, object, { kind: schema.name });
  expect(decoded.unknownFields).toEqual([]);
  return decoded.object;
}

/** Returns a form to compare: the order of keys is free in maps, and the schema fixes it elsewhere. */
function textOf(value: JsonValue): string {
  return stringifyJson(sorted(value), 1);
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const copy = emptyJsonObject();
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key] as JsonValue);
  return copy;
}

function* objects(schema: StructSchema): Generator<JsonObject> {
  const chance = new Chance(seed ^ Bun.hash.crc32(schema.name));
  for (let count = 0; count < objectsPerType; count++) yield typed(schema, randomObject(schema, chance));
}

describe(`nothing is lost of a random object (SEED=${seed})`, () => {
  const types = [...roots.values()].map((schema) => [schema.name, schema] as const);

  test("of every type there is one", () => expect(types.length).toBeGreaterThan(90));

  test.each(types)("%s as JSON", (_, schema) => {
    for (const object of objects(schema)) {
      const text = stringifyJson(object);
      const { value } = parseJson(Buffer.from(text), { strict: true });
      expect(stringifyJson(typed(schema, value as JsonObject))).toBe(text);
    }
  });

  test.each(types)("%s as protobuf", (_, schema) => {
    for (const object of objects(schema)) {
      const bytes = encodeMessage(schema, object);
      expect(textOf(typed(schema, decodeMessage(schema, bytes)))).toBe(textOf(object));
      expect(Buffer.from(encodeMessage(schema, decodeMessage(schema, bytes))).equals(bytes)).toBe(true);
    }
  });

  test.each(types)("%s as protobuf, from the stored text", (_, schema) => {
    let transcoded = 0;
    for (const object of objects(schema)) {
      const text = Buffer.from(stringifyJson(object));
      const bytes = transcodeMessage(schema, text);
      if (bytes === undefined) continue;
      const stored = parseJson(text, { strict: false }).value as JsonObject;
      expect(Buffer.from(encodeMessage(schema, stored)).equals(bytes)).toBe(true);
      transcoded++;
    }
    // Extreme numbers in lists are left to the decoder.
    expect(transcoded).toBeGreaterThan(0);
  });

  test.each(types)("%s as CBOR", (_, schema) => {
    for (const object of objects(schema)) {
      const value = decodeCbor(encodeCbor(object)) as JsonObject;
      expect(textOf(typed(schema, value))).toBe(textOf(object));
    }
  });
});

describe(`versions of a kind say the same (SEED=${seed})`, () => {
  const versions = scheme.resources
    .filter(({ storedAs }) => storedAs !== undefined)
    .map((info) => [`${apiVersionOf(info)} ${info.kind}`, info] as const);

  test("there are such kinds", () => expect(versions.length).toBeGreaterThan(10));

  test.each(versions)("%s goes to its stored form and back", (_, info) => {
    for (const object of sensibleObjects(info)) {
      const stored = typedAs(storedInfo(info), toStorage(typedAs(info, object), info));
      expect(textOf(bodyOf(fromStorage(stored, info)))).toBe(textOf(bodyOf(typedAs(info, object))));
    }
  });

  test.each(versions)("%s returns the stored object", (_, info) => {
    const from = storedInfo(info);
    for (const object of sensibleObjects(from)) {
      const stored = typedAs(from, object);
      const again = typedAs(from, toStorage(fromStorage(stored, info), info));
      expect(textOf(bodyOf(again))).toBe(textOf(bodyOf(stored)));
    }
  });
});

function typedAs(info: ResourceInfo, object: JsonObject | KubeObject): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, ...fields } = object as unknown as JsonObject;
  return { kind: info.kind, apiVersion: apiVersionOf(info), ...typed(structOf(info), fields) } as unknown as KubeObject;
}

function bodyOf(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

/** Removes parts of random objects that no valid object of the kind has. */
function* sensibleObjects(info: ResourceInfo): Generator<JsonObject> {
  for (const object of objects(structOf(info))) {
    makeSensible[structOf(info).name]?.(object);
    yield object;
  }
}

const makeSensible: Readonly<Record<string, (object: any) => void>> = {
  "autoscaling/v1.HorizontalPodAutoscaler": ({ status }) => {
    // An annotation carries the status of all metrics, so that of the CPU would appear only with the first answer.
    if (status !== undefined) delete status.currentCPUUtilizationPercentage;
  },
  "autoscaling/v2.HorizontalPodAutoscaler": ({ spec, status }) => {
    for (const metric of spec?.metrics ?? []) settleMetric(metric, "target");
    for (const metric of status?.currentMetrics ?? []) settleMetric(metric, "current");
    // The CPU target has a field of its own in v1, and comes first when it is read back.
    const at = (spec?.metrics ?? []).findIndex(
      ({ type, resource }: any) => type === "Resource" && resource.name === "cpu",
    );
    if (at > 0) spec.metrics.unshift(...spec.metrics.splice(at, 1));
    if (spec?.behavior !== undefined && Object.keys(spec.behavior).length === 0) delete spec.behavior;
  },
  "resource/v1.ResourceClaim": ({ spec }) => settleRequests(spec?.devices?.requests),
  "resource/v1.ResourceClaimTemplate": ({ spec }) => settleRequests(spec?.spec?.devices?.requests),
  "resource/v1beta1.ResourceClaim": ({ spec }) => settleRequests(spec?.devices?.requests),
  "resource/v1beta1.ResourceClaimTemplate": ({ spec }) => settleRequests(spec?.spec?.devices?.requests),
  "resource/v1.ResourceSlice": ({ spec }) => {
    // A pointer in v1 but not in v1beta1, so a slice has true or nothing.
    for (const name of ["allNodes", "nodeName"]) if (spec !== undefined && !spec[name]) delete spec[name];
  },
  "resource/v1beta1.ResourceSlice": ({ spec }) => {
    // In v1 the properties lie beside the name, so missing properties equal empty ones.
    for (const device of spec?.devices ?? []) device.basic ??= {};
  },
};

const sources = ["Object", "Pods", "Resource", "ContainerResource", "External"];

/** Returns one source, of the type that the metric names, with possible values of this source. */
function settleMetric(metric: any, field: "target" | "current"): void {
  const type = sources.includes(metric.type) ? metric.type : (sources[metric.type.length % sources.length] as string);
  const source = type.slice(0, 1).toLowerCase() + type.slice(1);
  const content = metric[source] ?? {};
  for (const other of Object.keys(metric)) delete metric[other];
  const values = { ...content[field] };
  const hasUtilization = type === "Resource" || type === "ContainerResource";
  delete values.type;
  if (!hasUtilization) delete values.averageUtilization;
  if (hasUtilization || type === "Pods") delete values.value;
  for (const [name, value] of Object.entries(values)) if (field === "target" && value === "0") values[name] = "1";
  if (field === "target") values.type = targetType(type, values);
  // The annotation of v1 always has one value.
  else if (type === "Object" || type === "External") values.value ??= "0";
  else values.averageValue ??= "0";
  Object.assign(metric, { type, [source]: { ...emptySource(type), ...content, [field]: values } });
}

function targetType(type: string, { value, averageValue, averageUtilization }: any): string {
  if (averageUtilization !== undefined) return "Utilization";
  if (type === "Object") return averageValue === undefined ? "Value" : "AverageValue";
  return type === "External" && value !== undefined ? "Value" : "AverageValue";
}

function emptySource(type: string): object {
  if (type === "Resource") return { name: "" };
  if (type === "ContainerResource") return { name: "", container: "" };
  const metric = { metric: { name: "" } };
  return type === "Object" ? { describedObject: { kind: "", name: "" }, ...metric } : metric;
}

/** A request names its class. */
function settleRequests(requests: any[] | undefined): void {
  for (const request of requests ?? []) {
    for (const part of [request, request.exactly]) if (part?.deviceClassName === "") part.deviceClassName = "class";
  }
}
