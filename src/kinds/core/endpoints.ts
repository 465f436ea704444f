import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Endpoints } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEndpoints } from "./validation/endpoints.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { firstFew, numberIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { defaultEndpointPort } from "./defaults/endpoints.ts";

/** Ports and addresses shown before the rest is only counted. */
export const shownMax = 3;

const endpointsStrategy: Strategy<Endpoints> = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validate: validateEndpoints,
};

export const endpoints = builtInKind("endpoints", {
  endpoint: stored(endpointsStrategy),
  table: { cells: endpointsCells },
  defaults: {
    "core/v1.EndpointPort": defaultEndpointPort,
  },
});

function endpointsCells(endpoints: JsonObject): Cells {
  const subsets = structsIn(endpoints, "subsets");
  if (subsets.length === 0) return { Endpoints: "<none>" };
  const count = subsets.reduce((sum, subset) => sum + endpointCount(subset), 0);
  return { Endpoints: firstFew(subsets.flatMap(endpointTexts), shownMax, ",", count) };
}

/** Every address has every port: there can be far more than anyone wants to list. */
function endpointCount(subset: JsonObject): number {
  return structsIn(subset, "addresses").length * Math.max(structsIn(subset, "ports").length, 1);
}

/** The first endpoints of a subset: `shownMax` at least, where there are as many. */
function endpointTexts(subset: JsonObject): string[] {
  const addresses = structsIn(subset, "addresses")
    .slice(0, shownMax)
    .map((address) => textIn(address, "ip"));
  const ports = structsIn(subset, "ports").slice(0, shownMax);
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, numberIn(port, "port"))));
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
