import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Endpoints } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEndpoints } from "./validation/endpoints.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { firstFew } from "../../api/codec/table/cell-text.ts";
import { numberOf, objectsOf, textOf } from "../../api/json-reading.ts";
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
  descriptions: {
    "core/v1.Endpoints": {
      "": "Addresses behind a service. EndpointSlices are its successor.",
      subsets: "Addresses by ports.",
    },
    "core/v1.EndpointSubset": {
      "": "Addresses with the same ports.",
      addresses: "Addresses that are ready.",
      notReadyAddresses: "Addresses that are not ready.",
      ports: "Ports of the addresses.",
    },
  },
});

function endpointsCells(endpoints: JsonObject): Cells {
  const subsets = objectsOf(endpoints["subsets"]);
  if (subsets.length === 0) return { Endpoints: "<none>" };
  const count = subsets.reduce((sum, subset) => sum + endpointCount(subset), 0);
  return { Endpoints: firstFew(subsets.flatMap(endpointTexts), shownMax, ",", count) };
}

/** Every address has every port: there can be far more than anyone wants to list. */
function endpointCount(subset: JsonObject): number {
  return objectsOf(subset["addresses"]).length * Math.max(objectsOf(subset["ports"]).length, 1);
}

/** The first endpoints of a subset: `shownMax` at least, where there are as many. */
function endpointTexts(subset: JsonObject): string[] {
  const addresses = objectsOf(subset["addresses"])
    .slice(0, shownMax)
    .map((address) => textOf(address["ip"]));
  const ports = objectsOf(subset["ports"]).slice(0, shownMax);
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) => addresses.map((ip) => hostPort(ip, numberOf(port["port"]))));
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
