import { equalJson } from "../../api/json.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery-v1.ts";
import { type EndpointSet, endpointKey, type SliceChanges, sameState } from "./slice-plan.ts";

/** Maximum number of endpoints of one slice. */
export const endpointsPerSlice = 100;

export interface Packing extends SliceChanges {
  /** Number of endpoints that were added and removed. */
  added: number;
  removed: number;
}

export interface PackParts {
  /** The slices with the same ports as the endpoints. */
  readonly existing: readonly EndpointSlice[];
  /** The endpoints that should be in slices. */
  readonly desired: ReadonlyMap<string, Endpoint>;
  /** Returns the labels of a slice. */
  readonly labelsOf: (slice: EndpointSlice) => Record<string, string>;
  /** Makes an empty slice. */
  readonly empty: () => EndpointSlice;
}

/**
 * Distributes endpoints with the same ports over slices with as few writes as possible. Slices that change anyway are
 * filled first. The rest goes together to one slice with enough room, or to new ones.
 */
export function packEndpoints({ existing, desired, labelsOf, empty }: PackParts): Packing {
  const left: EndpointSet = new Map(desired);
  const unchanged: EndpointSlice[] = [];
  const update: EndpointSlice[] = [];
  const remove: EndpointSlice[] = [];
  let removed = 0;
  for (const slice of existing) {
    const { endpoints, changed } = takeWanted(slice, left);
    const labels = labelsOf(slice);
    const before = slice.endpoints?.length ?? 0;
    removed += before - endpoints.length;
    if (changed && endpoints.length === 0) remove.push(slice);
    else if (changed || !equalJson(labels, slice.metadata.labels ?? {})) {
      const metadata = { ...slice.metadata, labels };
      update.push({ ...slice, metadata, endpoints: changed ? endpoints : [...(slice.endpoints ?? [])] });
    } else unchanged.push(slice);
  }
  const added = left.size;
  const fullestFirst = update.toSorted((a, b) => (b.endpoints?.length ?? 0) - (a.endpoints?.length ?? 0));
  for (const slice of fullestFirst) fill(slice, left);
  const create: EndpointSlice[] = [];
  while (left.size > 0) {
    const found = roomiest(unchanged, left.size);
    const slice = found === undefined ? empty() : { ...found, endpoints: [...(found.endpoints ?? [])] };
    fill(slice, left);
    if (found === undefined) create.push(slice);
    else {
      unchanged.splice(unchanged.indexOf(found), 1);
      update.push(slice);
    }
  }
  return { create, update, remove, added, removed };
}

/** Removes the endpoints of a slice from the wanted ones, and returns them in their wanted state. */
function takeWanted(slice: EndpointSlice, left: EndpointSet): { endpoints: Endpoint[]; changed: boolean } {
  const old = slice.endpoints ?? [];
  let changed = false;
  const endpoints = old.flatMap((endpoint) => {
    const key = endpointKey(endpoint);
    const wanted = left.get(key);
    left.delete(key);
    if (wanted !== undefined && !sameState(wanted, endpoint)) changed = true;
    return wanted ?? [];
  });
  return { endpoints, changed: changed || endpoints.length !== old.length };
}

function fill(slice: EndpointSlice, left: EndpointSet): void {
  const endpoints = slice.endpoints ?? [];
  for (const [key, endpoint] of left) {
    if (endpoints.length >= endpointsPerSlice) break;
    endpoints.push(endpoint);
    left.delete(key);
  }
  slice.endpoints = endpoints;
}

/** Returns the slice with the least room that all endpoints fit into. */
function roomiest(slices: readonly EndpointSlice[], count: number): EndpointSlice | undefined {
  if (count >= endpointsPerSlice) return undefined;
  const room = (slice: EndpointSlice) => endpointsPerSlice - (slice.endpoints?.length ?? 0) - count;
  const fitting = slices.filter((slice) => room(slice) >= 0 && room(slice) < endpointsPerSlice);
  return fitting.toSorted((a, b) => room(a) - room(b))[0];
}
