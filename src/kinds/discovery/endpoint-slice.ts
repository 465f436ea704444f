import { firstFew } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { equalJson } from "../../api/json.ts";
import type * as discoveryV1 from "../../api/types/discovery-v1.ts";
import { dnsSubdomainProblems } from "../../api/validation/names.ts";
import { warnAboutIp } from "../../api/validation/strict-ip.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { shownMax } from "../core/endpoints.ts";
import { managedByLabel } from "./endpoint-slice-labels.ts";
import { validateEndpointSlice, validateEndpointSliceUpdate } from "./validation/endpoint-slice.ts";

const hostLabel = "kubernetes.io/hostname";
/** These controllers write canonical addresses, so that looking for others is wasted. */
const carefulManagers: ReadonlySet<string> = new Set([
  "endpointslice-controller.k8s.io",
  "endpointslicemirroring-controller.k8s.io",
]);

const endpointSliceStrategy: Strategy<discoveryV1.EndpointSlice> = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  countsDroppedFields: true,
  generationFields: ["metadata.labels", "addressType", "endpoints", "ports"],
  prepareForCreate: (slice) => dropTopology(slice.endpoints ?? [], []),
  prepareForUpdate(slice, old) {
    if (equalJson(slice.endpoints, old.endpoints)) return;
    dropTopology(slice.endpoints ?? [], old.endpoints ?? []);
  },
  validateInTurns: validateEndpointSlice,
  validateUpdate: validateEndpointSliceUpdate,
  warnings: endpointSliceWarnings,
};

export const endpointSlice = builtInKind("endpointslices.discovery.k8s.io", {
  endpoint: stored(endpointSliceStrategy),
  table: { cells: endpointSliceCells },
  descriptions: {
    "discovery/v1.EndpointSlice": {
      "": "Some of the addresses behind a service.",
      addressType: "IPv4, IPv6 or FQDN.",
      endpoints: "The addresses; at most 1000.",
      ports: "Ports of all of them.",
    },
    "discovery/v1.Endpoint": {
      "": "One place behind a service.",
      addresses: "Its addresses; clients use the first.",
      conditions: "Whether it is ready, serving or terminating.",
      hostname: "Its name in DNS.",
      targetRef: "The object that it is, usually a pod.",
      deprecatedTopology: "No longer used.",
      nodeName: "The node that it is on.",
      zone: "The zone that it is in.",
      hints: "Zones and nodes that should use the endpoint.",
    },
    "discovery/v1.EndpointPort": {
      "": "A port of all places of a slice.",
      name: "Name of the service's port.",
      protocol: "TCP, UDP or SCTP.",
      port: "The port number.",
      appProtocol: "Application protocol of the port.",
    },
  },
});

/**
 * Removes a field of an earlier version, which clients of this version cannot write. A node that the stored slice named
 * there moves to `nodeName`.
 */
function dropTopology(endpoints: readonly discoveryV1.Endpoint[], old: readonly discoveryV1.Endpoint[]): void {
  const known = new Set(old.map(({ deprecatedTopology }) => deprecatedTopology?.[hostLabel]));
  for (const endpoint of endpoints) {
    const node = endpoint.deprecatedTopology?.[hostLabel] ?? "";
    if (endpoint.nodeName === undefined && known.has(node) && dnsSubdomainProblems(node).length === 0) {
      endpoint.nodeName = node;
    }
    delete endpoint.deprecatedTopology;
  }
}

function endpointSliceWarnings(slice: discoveryV1.EndpointSlice, old?: discoveryV1.EndpointSlice): string[] {
  const { metadata, addressType, endpoints } = slice;
  const warnings =
    old === undefined && addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
  if (carefulManagers.has(metadata.labels?.[managedByLabel] ?? "")) return warnings;
  const addresses = (endpoints ?? []).flatMap((endpoint, at) =>
    (endpoint.addresses ?? []).flatMap((address, index) =>
      warnAboutIp(address, `endpoints[${at}].addresses[${index}]`),
    ),
  );
  return [...warnings, ...addresses];
}

function endpointSliceCells(slice: discoveryV1.EndpointSlice): Cells {
  const ports = (slice.ports ?? []).map(({ port, name = "" }) => String(port ?? (name || "*")));
  const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
  return {
    AddressType: slice.addressType,
    Ports: firstFew(ports, shownMax) || "<unset>",
    Endpoints: firstFew(addresses, shownMax) || "<unset>",
  };
}
