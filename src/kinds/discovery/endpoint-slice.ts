import { equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEndpointSlice, validateEndpointSliceUpdate } from "./validation/endpoint-slice.ts";
import { objectsOf } from "../../api/validation/fields.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { firstFew, structsIn, textIn, textsIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { shownMax } from "../core/endpoints.ts";

const endpointSliceStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  generationFields: ["addressType", "endpoints", "ports", "metadata.labels"],
  prepareForCreate: (slice) => dropTopology(endpointsOf(slice)),
  prepareForUpdate(slice, old) {
    if (!equalJson(endpointsOf(slice), endpointsOf(old))) dropTopology(endpointsOf(slice));
  },
  validate: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
};

export const endpointSlice = builtInKind("endpointslices.discovery.k8s.io", {
  endpoint: stored(endpointSliceStrategy),
  table: { cells: endpointSliceCells },
});

function endpointsOf(slice: KubeObject): JsonObject[] {
  return objectsOf(slice["endpoints"] as JsonValue | undefined);
}

/** The field is of an earlier version: it is kept where it was and cannot be written any more. */
function dropTopology(endpoints: readonly JsonObject[]): void {
  for (const endpoint of endpoints) delete endpoint["deprecatedTopology"];
}

function endpointSliceCells(slice: JsonObject): Cells {
  const ports = structsIn(slice, "ports").map((port) => String(port["port"] ?? (textIn(port, "name") || "*")));
  const addresses = structsIn(slice, "endpoints").flatMap((endpoint) => textsIn(endpoint, "addresses"));
  return {
    AddressType: textIn(slice, "addressType"),
    Ports: firstFew(ports, shownMax) || "<unset>",
    Endpoints: firstFew(addresses, shownMax) || "<unset>",
  };
}
