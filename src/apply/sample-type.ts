import type { JsonObject } from "../api/json.ts";
import { structuralType } from "./structural-type.ts";
import { scalarType, type ValueType } from "./value-type.ts";
import type { TrackedVersion } from "./versions.ts";

/** A kind for tests that has every sort of list and map. */
export const sampleSchema: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        name: { type: "string" },
        paused: { type: "boolean" },
        since: { type: "string", format: "date-time" },
        port: { "x-kubernetes-int-or-string": true },
        plain: { type: "array", items: { type: "string" } },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        numbers: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            properties: {
              port: { type: "integer" },
              protocol: { type: "string", default: "TCP" },
              note: { type: "string" },
            },
          },
        },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              size: { type: "integer" },
              env: { type: "object", additionalProperties: { type: "string" } },
            },
          },
        },
        labels: { type: "object", additionalProperties: { type: "string" } },
        whole: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: { type: "string" } },
        nested: {
          type: "object",
          properties: { deep: { type: "object", properties: { x: { type: "integer" }, y: { type: "string" } } } },
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        template: { type: "object", "x-kubernetes-embedded-resource": true, properties: { a: { type: "string" } } },
      },
    },
    status: { type: "object", properties: { phase: { type: "string" } } },
  },
};

const text = scalarType("string");
const metadataFields = ["name", "namespace", "uid"].map((name) => ({
  element: `f:${name}`,
  type: text,
  keyDefault: undefined,
}));
const labels: ValueType = {
  scalar: undefined,
  list: undefined,
  map: { atomic: false, fields: new Map(), values: text, free: false },
};
const metadataType: ValueType = {
  scalar: undefined,
  list: undefined,
  map: {
    atomic: false,
    fields: new Map([
      ...metadataFields.map((field) => [field.element.slice(2), field] as const),
      ["labels", { element: "f:labels", type: labels, keyDefault: undefined }],
      ["annotations", { element: "f:annotations", type: labels, keyDefault: undefined }],
    ]),
    values: undefined,
    free: false,
  },
};

export const sampleType: ValueType = structuralType(sampleSchema, metadataType);

export const sampleVersion: TrackedVersion = {
  apiVersion: "test/v1",
  type: sampleType,
  empty: { apiVersion: "test/v1", kind: "Sample" },
  isDecoded: false,
};

/** A document of the kind. */
export function sample(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "test/v1", kind: "Sample", metadata: { name: "one", namespace: "default", ...metadata }, spec };
}
