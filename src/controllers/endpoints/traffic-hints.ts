import { equalJson } from "../../api/json.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { SliceChanges } from "./slice-plan.ts";

/** A service's preference for close endpoints; `none` for services without one. */
export type TrafficPreference = "none" | "zone" | "node";

/** Returns the preference in a service's `trafficDistribution`. */
export function trafficPreference(trafficDistribution: string | undefined): TrafficPreference {
  switch (trafficDistribution) {
    case "PreferClose":
    case "PreferSameZone":
      return "zone";
    case "PreferSameNode":
      return "node";
    default:
      return "none";
  }
}

/** Sets the hints of the preference on the endpoints of all slices. Slices with wrong hints are updated too. */
export function withTrafficHints<T extends SliceChanges>(
  changes: T,
  existing: readonly EndpointSlice[],
  preference: TrafficPreference,
): T {
  const touched = new Set([...changes.update, ...changes.remove].map(({ metadata }) => metadata.name));
  const stale = existing.filter(
    (slice) =>
      !touched.has(slice.metadata.name) &&
      (slice.endpoints ?? []).some((endpoint) => !equalJson(endpoint.hints, withHints(endpoint, preference).hints)),
  );
  const hinted = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).map((endpoint) => withHints(endpoint, preference)),
  });
  return { ...changes, create: changes.create.map(hinted), update: [...changes.update, ...stale].map(hinted) };
}

/** Endpoints that are not ready keep their hints, unless the service no longer has a preference. */
function withHints(endpoint: Endpoint, preference: TrafficPreference): Endpoint {
  const { hints: _old, ...rest } = endpoint;
  if (preference === "none") return rest;
  if (endpoint.conditions?.ready !== true) return endpoint;
  const { zone, nodeName } = endpoint;
  const hints = {
    ...(zone !== undefined && { forZones: [{ name: zone }] }),
    ...(nodeName !== undefined && preference === "node" && { forNodes: [{ name: nodeName }] }),
  };
  return Object.keys(hints).length === 0 ? rest : { ...rest, hints };
}
