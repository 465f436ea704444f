import { equalJson } from "../../api/json.ts";
import type * as coreV1 from "../../api/types/core-v1.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/types/discovery-v1.ts";
import { type IpFamily, parseIp } from "../../api/validation/ip.ts";
import { managedByLabel, serviceNameLabel } from "../../kinds/discovery/endpoint-slice-labels.ts";
import {
  type EndpointSet,
  endpointKey,
  newSlice,
  portsKey,
  reuseSlices,
  type SliceChanges,
  sameState,
} from "./slice-plan.ts";
import { addressCount, repack } from "./subsets.ts";
import { triggerTimeAnnotation } from "./trigger-times.ts";

/** The label value of slices that mirroring manages. */
export const mirrorSliceManager = "endpointslicemirroring-controller.k8s.io";
/** Maximum number of mirrored addresses per subset. A subset has one slice for each family. */
export const mirroredAddressesMax = 1_000;
const notMirrored = new Set([triggerTimeAnnotation, "kubectl.kubernetes.io/last-applied-configuration"]);
const families = ["IPv4", "IPv6"] as const;

export interface MirrorPlan extends SliceChanges {
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
  /** Number of invalid addresses. */
  readonly invalid: number;
  /** Number of addresses that are left out: the invalid ones, and those above the limit. */
  readonly skipped: number;
  /** Numbers of endpoints by ports and family. */
  readonly desired: readonly number[];
}

/** The endpoints of one family with the same ports. */
interface MirrorGroup {
  readonly family: IpFamily;
  readonly ports: EndpointPort[];
  readonly endpoints: EndpointSet;
}

/** Compares Endpoints with the slices that mirror them. */
export function planMirror(endpoints: coreV1.Endpoints, existing: readonly EndpointSlice[]): MirrorPlan {
  const { groups, invalid, skipped } = desiredGroups(endpoints);
  const byGroup = Map.groupBy(existing, ({ addressType, ports }) => groupKey(addressType, ports));
  const plans = [...groups].map(([key, group]) => planGroup(endpoints, group, byGroup.get(key) ?? []));
  const unwanted = [...byGroup].flatMap(([key, slices]) => (groups.has(key) ? [] : slices));
  const changes = {
    create: plans.flatMap(({ create }) => create),
    update: plans.flatMap(({ update }) => update),
    remove: [...plans.flatMap(({ remove }) => remove), ...unwanted],
  };
  const total = (count: "added" | "updated" | "removed") => plans.reduce((sum, plan) => sum + plan[count], 0);
  return {
    ...reuseSlices(changes, () => true),
    added: total("added"),
    updated: total("updated"),
    removed: total("removed"),
    invalid,
    skipped,
    desired: [...groups.values()].map((group) => group.endpoints.size),
  };
}

function desiredGroups({ subsets = [] }: coreV1.Endpoints) {
  const groups = new Map<string, MirrorGroup>();
  let [invalid, skipped] = [0, 0];
  for (const subset of repack(subsets)) {
    const ports = (subset.ports ?? []).map(mirroredPort);
    for (const family of families) {
      const key = groupKey(family, ports);
      if (!groups.has(key)) groups.set(key, { family, ports, endpoints: new Map() });
    }
    let taken = 0;
    const take = (address: coreV1.EndpointAddress, ready: boolean) => {
      if (taken >= mirroredAddressesMax) return;
      const ip = parseIp(address.ip);
      if (ip === undefined) {
        invalid++;
        return;
      }
      const endpoint = mirroredEndpoint(address, ip.text, ready);
      groups.get(groupKey(ip.family, ports))?.endpoints.set(endpointKey(endpoint), endpoint);
      taken++;
    };
    for (const address of subset.addresses ?? []) take(address, true);
    for (const address of subset.notReadyAddresses ?? []) take(address, false);
    skipped += addressCount([subset]) - taken;
  }
  return { groups, invalid, skipped };
}

type GroupPlan = SliceChanges & Pick<MirrorPlan, "added" | "updated" | "removed">;

function planGroup(endpoints: coreV1.Endpoints, group: MirrorGroup, existing: readonly EndpointSlice[]): GroupPlan {
  const desired = group.endpoints;
  const [first, ...others] = existing;
  if (desired.size === 0) {
    const removed = existing.reduce((total, slice) => total + (slice.endpoints?.length ?? 0), 0);
    return { create: [], update: [], remove: [...existing], added: 0, updated: 0, removed };
  }
  const wanted = sliceOf(endpoints, group);
  if (first === undefined) {
    return { create: [wanted], update: [], remove: [], added: desired.size, updated: 0, removed: 0 };
  }
  const changes = endpointChanges(first, desired);
  const isSame =
    changes.added + changes.updated + changes.removed === 0 &&
    equalJson(first.metadata.labels ?? {}, wanted.metadata.labels ?? {}) &&
    equalJson(first.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}) &&
    first.metadata.ownerReferences?.[0]?.uid === endpoints.metadata.uid;
  const { generateName: _prefix, ...metadata } = wanted.metadata;
  const { name, uid, resourceVersion } = first.metadata;
  const replaced = { ...wanted, metadata: { ...metadata, name, uid, resourceVersion } } as EndpointSlice;
  return { create: [], update: isSame ? [] : [replaced], remove: others, ...changes };
}

function endpointChanges({ endpoints }: EndpointSlice, desired: EndpointSet) {
  const found = (endpoints ?? []).map((endpoint) => [endpoint, desired.get(endpointKey(endpoint))] as const);
  const removed = found.filter(([, wanted]) => wanted === undefined).length;
  const updated = found.filter(([old, wanted]) => wanted !== undefined && !sameState(wanted, old)).length;
  return { added: desired.size - (found.length - removed), updated, removed };
}

function sliceOf(endpoints: coreV1.Endpoints, { family, ports, endpoints: desired }: MirrorGroup): EndpointSlice {
  const { name = "", labels = {}, annotations = {} } = endpoints.metadata;
  return newSlice(endpoints, {
    labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: mirrorSliceManager },
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !notMirrored.has(key))),
    addressType: family,
    endpoints: [...desired.values()].slice(0, mirroredAddressesMax),
    ports,
  });
}

function mirroredPort({ name = "", port, protocol = "TCP", appProtocol }: coreV1.EndpointPort): EndpointPort {
  return { name, port, protocol, ...(appProtocol !== undefined && { appProtocol }) };
}

function mirroredEndpoint(address: coreV1.EndpointAddress, ip: string, ready: boolean): Endpoint {
  const { hostname = "", nodeName, targetRef } = address;
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== "" && { hostname }),
    ...(targetRef !== undefined && { targetRef }),
    ...(nodeName !== undefined && { nodeName }),
  };
}

function groupKey(family: string, ports: readonly EndpointPort[] | null): string {
  return `${family} ${portsKey(ports)}`;
}
