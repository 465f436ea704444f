import { expect, test } from "bun:test";
import type { EndpointAddress, EndpointSubset } from "../../api/types/core-v1.ts";
import { addressCount, addressesMax, repack, truncated } from "./subsets.ts";

const address = (ip: string, uid = ip): EndpointAddress => ({ ip, targetRef: { kind: "Pod", uid } });
const http = { name: "http", port: 80, protocol: "TCP" };
const https = { name: "https", port: 443, protocol: "TCP" };

test("addresses with the same ports share a subset", () => {
  const spread: EndpointSubset[] = [
    { addresses: [address("10.0.0.2")], ports: [https] },
    { addresses: [address("10.0.0.1")], ports: [http] },
    { addresses: [address("10.0.0.1")], ports: [https] },
    { addresses: [address("10.0.0.2")], ports: [http] },
  ];
  expect(repack(spread)).toEqual([{ addresses: [address("10.0.0.1"), address("10.0.0.2")], ports: [http, https] }]);
});

test("a port that only some addresses have gets a subset of its own", () => {
  const spread: EndpointSubset[] = [
    { addresses: [address("10.0.0.1"), address("10.0.0.2")], ports: [https] },
    { addresses: [address("10.0.0.2")], ports: [http] },
  ];
  expect(repack(spread)).toEqual([
    { addresses: [address("10.0.0.2")], ports: [http] },
    { addresses: [address("10.0.0.1"), address("10.0.0.2")], ports: [https] },
  ]);
});

test("an address that one pod reports as ready and not ready is not ready", () => {
  const spread: EndpointSubset[] = [
    { addresses: [address("10.0.0.1")], ports: [http] },
    { notReadyAddresses: [address("10.0.0.1")], ports: [http] },
  ];
  expect(repack(spread)).toEqual([{ notReadyAddresses: [address("10.0.0.1")], ports: [http] }]);
});

test("the order of the spelling does not matter, nor does a second pass", () => {
  const subsets: EndpointSubset[] = [
    { addresses: [address("10.0.0.1", "b"), address("10.0.0.1", "a")], ports: [https, http] },
    { notReadyAddresses: [address("10.0.0.9")] },
  ];
  const once = repack(subsets);
  expect(repack(once)).toEqual(once);
  expect(repack(subsets.toReversed())).toEqual(once);
});

test("a port without addresses does not count", () => {
  expect(repack([{ ports: [http] }])).toEqual([]);
  expect(repack([])).toEqual([]);
});

const many = (count: number, from = 0) => Array.from({ length: count }, (_, at) => address(`10.0.${from + at}`));

test.each([
  ["that fit stay as they are", many(addressesMax - 1), many(1), undefined],
  ["that are ready come first", many(600), many(600), [600, 400]],
  ["that are too many ready ones lose those that are not", many(1_200), many(5), [1_000, 0]],
] as const)("addresses %s", (_, addresses, notReadyAddresses, kept) => {
  const cut = truncated([{ addresses: [...addresses], notReadyAddresses: [...notReadyAddresses], ports: [http] }]);
  const counts = cut?.map((subset) => [subset.addresses?.length ?? 0, subset.notReadyAddresses?.length ?? 0]).flat();
  expect(counts).toEqual(kept as number[] | undefined);
});

test("each subset keeps its share", () => {
  const cut = truncated([
    { addresses: many(1_500), ports: [http] },
    { addresses: many(500, 2_000), ports: [https] },
  ]);
  expect(cut?.map(({ addresses = [] }) => addresses.length)).toEqual([750, 250]);
  expect(addressCount(cut ?? [])).toBe(addressesMax);
});
