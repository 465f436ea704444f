import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { Conversion } from "../../api/scheme/resource.ts";

/**
 * resource.k8s.io/v1beta1 has the exact form of a device request beside its name, where v1 has it under `exactly`, and
 * the properties of a device under `basic`, where v1 has them beside its name.
 */
const requestFields: ReadonlySet<string> = new Set([
  "deviceClassName",
  "selectors",
  "allocationMode",
  "count",
  "adminAccess",
  "tolerations",
  "capacity",
]);

export const resourceClaimConversion: Conversion = {
  toStorage: (claim) => inSpec(claim, (spec) => eachRequest(spec, nestExactly)),
  fromStorage: (claim) => inSpec(claim, (spec) => eachRequest(spec, flattenExactly)),
};

/** A template holds the specification of a claim in its own. */
export const resourceClaimTemplateConversion: Conversion = {
  toStorage: (template) => inSpec(template, resourceClaimConversion.toStorage),
  fromStorage: (template) => inSpec(template, resourceClaimConversion.fromStorage),
};

export const resourceSliceConversion: Conversion = {
  toStorage: (slice) => inSpec(slice, (spec) => eachIn(spec, "devices", flattenBasic)),
  fromStorage: (slice) => inSpec(slice, (spec) => eachIn(spec, "devices", nestBasic)),
};

function nestExactly(request: JsonObject): JsonObject {
  const nested = emptyJsonObject();
  const exactly = emptyJsonObject();
  for (const [name, value] of Object.entries(request)) {
    (requestFields.has(name) ? exactly : nested)[name] = value;
  }
  // A request with alternatives has no device class, written as the empty text.
  if (Object.entries(exactly).some(([name, value]) => name !== "deviceClassName" || value !== "")) {
    nested["exactly"] = exactly;
  }
  return nested;
}

function flattenExactly(request: JsonObject): JsonObject {
  const { exactly, ...rest } = request;
  return isJsonObject(exactly) ? { ...rest, ...exactly } : rest;
}

function flattenBasic({ basic, ...device }: JsonObject): JsonObject {
  return isJsonObject(basic) ? { ...device, ...basic } : device;
}

function nestBasic({ name, ...basic }: JsonObject): JsonObject {
  return { ...(name === undefined ? {} : { name }), basic };
}

function eachRequest(spec: JsonObject, convert: (request: JsonObject) => JsonObject): JsonObject {
  const { devices } = spec;
  return isJsonObject(devices) ? { ...spec, devices: eachIn(devices, "requests", convert) } : spec;
}

function inSpec(object: JsonObject, convert: (spec: JsonObject) => JsonObject): JsonObject {
  const { spec } = object;
  return isJsonObject(spec) ? { ...object, spec: convert(spec) } : object;
}

function eachIn(parent: JsonObject, field: string, convert: (item: JsonObject) => JsonObject): JsonObject {
  const items = parent[field];
  if (!Array.isArray(items)) return parent;
  return { ...parent, [field]: items.map((item: JsonValue) => (isJsonObject(item) ? convert(item) : item)) };
}
