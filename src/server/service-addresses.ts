import { randomInt } from "node:crypto";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Service } from "../api/types/core-v1.ts";
import type { EndpointSlice } from "../api/types/discovery-v1.ts";
import {
  clusterAddressResolver,
  endpointResolver,
  type ServiceLookup,
  type ServiceResolver,
} from "../client/service-endpoints.ts";
import { serviceNameLabel } from "../kinds/discovery/endpoint-slice-labels.ts";
import type { Registries } from "../registry/registries.ts";

/** Looks up the currently stored Services and their EndpointSlices. */
export function storedServices(registries: () => Pick<Registries, "find">): ServiceLookup {
  return {
    service: (namespace, name) =>
      registries().find({ group: "", resource: "services" })?.current(namespace, name) as
        | (Service & KubeObject)
        | undefined,
    endpointSlices(namespace, service) {
      const slices = registries().find({ group: "discovery.k8s.io", resource: "endpointslices" });
      if (slices === undefined) return [];
      return slices.cacher
        .entries(slices.keyOf(namespace, ""))
        .filter(({ index }) => index.labels?.[serviceNameLabel] === service)
        .map((entry) => decodeEntry(entry, slices.info) as EndpointSlice & KubeObject);
    },
  };
}

/** Finds the addresses of the Services of webhooks and APIServices. */
export function serviceAddresses(lookup: ServiceLookup, routesToEndpoints: boolean): ServiceResolver {
  if (!routesToEndpoints) return clusterAddressResolver(lookup);
  return endpointResolver(lookup, (below) => (below === 0 ? 0 : randomInt(below)));
}
