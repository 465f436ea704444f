import { firstFew } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { EndpointPort, EndpointSubset, Endpoints } from "../../api/types/core-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateEndpoints } from "./validation/endpoints.ts";

/** Number of endpoints that are shown; the rest is counted. */
export const shownMax = 3;

const endpointsStrategy: Strategy<Endpoints> = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  validate: (endpoints, old) => validateEndpoints(endpoints, old),
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

function endpointsCells({ subsets = [] }: Endpoints): Cells {
  if (subsets.length === 0) return { Endpoints: "<none>" };
  const count = subsets.reduce((sum, subset) => sum + endpointCount(subset), 0);
  return { Endpoints: firstFew(subsets.flatMap(endpointTexts), shownMax, ",", count) };
}

/** Every address has every port, so there can be far too many to list. */
function endpointCount({ addresses = [], ports = [] }: EndpointSubset): number {
  return addresses.length * Math.max(ports.length, 1);
}

/** Returns the first endpoints of a subset: at least `shownMax`, or all if there are fewer. */
function endpointTexts({ addresses = [], ports = [] }: EndpointSubset): string[] {
  const ips = addresses.slice(0, shownMax).map(({ ip }) => ip);
  if (ports.length === 0) return ips;
  return ports.slice(0, shownMax).flatMap(({ port }) => ips.map((ip) => hostPort(ip, port)));
}

function hostPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function defaultEndpointPort(port: EndpointPort): void {
  port.protocol ||= "TCP";
}
