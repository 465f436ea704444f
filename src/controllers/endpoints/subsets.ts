import { type JsonValue, sortedJson } from "../../api/json.ts";
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../api/types/core-v1.ts";

/** Maximum number of addresses of one Endpoints object. */
export const addressesMax = 1_000;

interface SubsetAddress {
  readonly address: EndpointAddress;
  /** Whether the address is ready on a port, by port. A report of not being ready outweighs others. */
  readonly readyOn: Map<string, boolean>;
}

/**
 * Returns the same endpoints in canonical form: each address once in a subset, addresses with the same ports together,
 * and everything in order.
 */
export function repack(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const addresses = new Map<string, SubsetAddress>();
  const ports = new Map<string, EndpointPort | undefined>();
  for (const subset of subsets) {
    const keys = (subset.ports ?? []).map((port) => {
      const key = textOf(port);
      ports.set(key, port);
      return key;
    });
    // An address without ports is an endpoint too.
    if (keys.length === 0) ports.set("", undefined);
    const on = keys.length === 0 ? [""] : keys;
    for (const address of subset.addresses ?? []) note(addresses, address, on, true);
    for (const address of subset.notReadyAddresses ?? []) note(addresses, address, on, false);
  }
  const sorted = [...addresses.values()].toSorted((a, b) => compareAddresses(a.address, b.address));
  const byAddresses = Map.groupBy(ports.keys(), (port) =>
    sorted.flatMap(({ readyOn }, at) => (readyOn.has(port) ? [`${at}:${readyOn.get(port)}`] : [])).join(),
  );
  // Ports without addresses do not count.
  byAddresses.delete("");
  return [...byAddresses.values()]
    .map((keys) => subsetOf(keys, sorted, ports))
    .toSorted(
      (a, b) => compareTexts(textOf(a.ports ?? []), textOf(b.ports ?? [])) || compareTexts(textOf(a), textOf(b)),
    );
}

/**
 * Returns the subsets with at most `addressesMax` addresses, ready ones first, with a share for each subset; undefined if
 * they already fit.
 */
export function truncated(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const ready = sum(subsets, ({ addresses = [] }) => addresses.length);
  const notReady = sum(subsets, ({ notReadyAddresses = [] }) => notReadyAddresses.length);
  if (ready + notReady <= addressesMax) return undefined;
  const cutsReady = ready > addressesMax;
  const total = cutsReady ? ready : notReady;
  const room = cutsReady ? addressesMax : addressesMax - ready;
  let left = room;
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports }) => {
    const cut = cutsReady ? addresses : notReadyAddresses;
    const kept = cut.slice(0, Math.min(left, Math.ceil((cut.length / total) * room)));
    left -= kept.length;
    return subset(cutsReady ? kept : addresses, cutsReady ? [] : kept, ports ?? []);
  });
}

/** Counts the addresses of all subsets. */
export function addressCount(subsets: readonly EndpointSubset[]): number {
  return sum(subsets, ({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length);
}

/** Makes a subset without empty lists. */
export function subset(
  addresses: readonly EndpointAddress[],
  notReadyAddresses: readonly EndpointAddress[],
  ports: readonly EndpointPort[],
): EndpointSubset {
  return {
    ...(addresses.length > 0 && { addresses: [...addresses] }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses: [...notReadyAddresses] }),
    ...(ports.length > 0 && { ports: [...ports] }),
  };
}

function note(
  addresses: Map<string, SubsetAddress>,
  address: EndpointAddress,
  ports: readonly string[],
  isReady: boolean,
): void {
  const key = `${address.ip} ${address.targetRef?.uid ?? ""}`;
  const known = addresses.get(key) ?? { address, readyOn: new Map<string, boolean>() };
  addresses.set(key, known);
  for (const port of ports) known.readyOn.set(port, isReady && known.readyOn.get(port) !== false);
}

/** @param keys ports that share the same addresses */
function subsetOf(
  keys: readonly string[],
  sorted: readonly SubsetAddress[],
  ports: ReadonlyMap<string, EndpointPort | undefined>,
): EndpointSubset {
  const on = keys[0] ?? "";
  const having = (isReady: boolean) =>
    sorted.flatMap(({ address, readyOn }) => (readyOn.get(on) === isReady ? [address] : []));
  const own = keys.flatMap((key) => ports.get(key) ?? []).toSorted(comparePorts);
  return subset(having(true), having(false), own);
}

function compareAddresses(a: EndpointAddress, b: EndpointAddress): number {
  return compareTexts(a.ip, b.ip) || compareTexts(a.targetRef?.uid ?? "", b.targetRef?.uid ?? "");
}

function comparePorts(a: EndpointPort, b: EndpointPort): number {
  return (
    a.port - b.port || compareTexts(a.protocol ?? "", b.protocol ?? "") || compareTexts(a.name ?? "", b.name ?? "")
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function textOf(value: unknown): string {
  return JSON.stringify(sortedJson(value as JsonValue));
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
