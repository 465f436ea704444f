import { expect, test } from "bun:test";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery-v1.ts";
import { endpointsPerSlice, packEndpoints } from "./pack-endpoints.ts";
import { endpointKey } from "./slice-plan.ts";

const labels = { app: "a" };

function endpoint(number: number, ready = true): Endpoint {
  return { addresses: [`10.0.0.${number}`], conditions: { ready }, targetRef: { kind: "Pod", name: `pod-${number}` } };
}

function slice(name: string, from: number, count: number, own: Record<string, string> = labels): EndpointSlice {
  const endpoints = Array.from({ length: count }, (_, at) => endpoint(from + at));
  const metadata = { name, labels: own };
  return {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata,
    addressType: "IPv4",
    endpoints,
    ports: [],
  };
}

function pack(existing: readonly EndpointSlice[], wanted: readonly Endpoint[]) {
  const desired = new Map(wanted.map((one) => [endpointKey(one), one]));
  const empty = () => ({ ...slice("", 0, 0) });
  const { create, update, remove, added, removed } = packEndpoints({
    existing,
    desired,
    labelsOf: () => labels,
    empty,
  });
  const sizes = (slices: readonly EndpointSlice[]) =>
    slices.map(({ metadata, endpoints }) => `${metadata.name}:${endpoints?.length}`);
  return { create: sizes(create), update: sizes(update), remove: sizes(remove), added, removed };
}

const endpoints = (from: number, count: number) => Array.from({ length: count }, (_, at) => endpoint(from + at));

test("the first endpoints get new slices, of which one is partly filled", () => {
  expect(pack([], endpoints(0, 250))).toEqual({
    create: [":100", ":100", ":50"],
    update: [],
    remove: [],
    added: 250,
    removed: 0,
  });
});

test("slices that are right are not written", () => {
  expect(pack([slice("a", 0, 100), slice("b", 100, 10)], endpoints(0, 110))).toMatchObject({
    create: [],
    update: [],
    remove: [],
  });
});

test("new endpoints go into the slice with the least room for all of them", () => {
  const existing = [slice("a", 0, 50), slice("b", 100, 90), slice("c", 200, 98)];
  const wanted = [...endpoints(0, 50), ...endpoints(100, 90), ...endpoints(200, 98), ...endpoints(300, 5)];
  expect(pack(existing, wanted)).toMatchObject({ create: [], update: ["b:95"], added: 5 });
});

test("new endpoints rather fill a slice that changes anyway", () => {
  const existing = [slice("a", 0, 50), slice("b", 100, 99)];
  const wanted = [...endpoints(0, 49), ...endpoints(100, 99), endpoint(300)];
  expect(pack(existing, wanted)).toMatchObject({ create: [], update: ["a:50"], added: 1, removed: 1 });
});

test("endpoints that fit into no slice get a new one", () => {
  const existing = [slice("a", 0, 99), slice("b", 100, 99)];
  const wanted = [...endpoints(0, 99), ...endpoints(100, 99), ...endpoints(300, 2)];
  expect(pack(existing, wanted)).toMatchObject({ create: [":2"], update: [] });
});

test("a slice that loses all endpoints goes", () => {
  expect(pack([slice("a", 0, 2), slice("b", 10, 3)], endpoints(0, 2))).toMatchObject({
    update: [],
    remove: ["b:3"],
    removed: 3,
  });
});

test("a changed state and changed labels are written in place", () => {
  expect(pack([slice("a", 0, 2)], [endpoint(0), endpoint(1, false)])).toMatchObject({ update: ["a:2"], added: 0 });
  expect(pack([slice("a", 0, 2, { app: "old" })], endpoints(0, 2))).toMatchObject({ update: ["a:2"], added: 0 });
});

test("an endpoint that two slices have stays in the first", () => {
  expect(pack([slice("a", 0, 2), slice("b", 1, 2)], endpoints(0, 3))).toMatchObject({ update: ["b:1"], remove: [] });
});

test("a slice is never filled beyond its limit", () => {
  expect(endpointsPerSlice).toBe(100);
  const existing = [slice("a", 0, 100)];
  expect(pack(existing, [...endpoints(1, 99), ...endpoints(300, 150)])).toMatchObject({
    update: ["a:100"],
    create: [":100", ":49"],
  });
});
