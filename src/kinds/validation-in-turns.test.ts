import { expect, test } from "bun:test";
import { runToEnd } from "../api/testing.ts";
import { validatePersistentVolume } from "./core/validation/persistent-volume.ts";
import { validateResourceQuota } from "./core/validation/resource-quota.ts";
import { validateEndpointSlice } from "./discovery/validation/endpoint-slice.ts";
import { validateNetworkPolicy } from "./networking/validation/network-policy.ts";

const count = 1_000;
const metadata = { name: "large" };
const list = <T>(make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const amounts = (bad: string) =>
  Object.fromEntries([...list((at) => [`example.com/r-${at}`, "1"]), [`example.com/${bad}`, "-1"]]);
const from = [...list((at) => ({ ipBlock: { cidr: `10.${at >> 8}.${at & 255}.0/24` } })), { ipBlock: { cidr: "x" } }];
const addresses = [...list((at) => ({ addresses: [`10.1.${at >> 8}.${at & 255}`] })).slice(1), { addresses: ["x"] }];
const validations = {
  "a quota": () => validateResourceQuota({ metadata, spec: { hard: amounts("bad") } } as never),
  "a volume": () =>
    validatePersistentVolume({ metadata, spec: { capacity: amounts("bad"), hostPath: { path: "/a" } } } as never),
  "a slice": () => validateEndpointSlice({ metadata, addressType: "IPv4", endpoints: addresses } as never),
  "a policy": () => validateNetworkPolicy({ metadata, spec: { podSelector: {}, ingress: [{ from }] } } as never),
};
const places = [
  "[example.com/bad]",
  "spec.capacity[example.com/bad]",
  "endpoints[999]",
  `spec.ingress[0].from[${count}]`,
];

test.each(Object.entries(validations))(
  "the validation of %s of many parts pauses, and finds the last mistake",
  (name, validate) => {
    const { result, yields } = runToEnd(validate());
    expect(yields).toBeGreaterThan(count / 100);
    const place = places[Object.keys(validations).indexOf(name)] as string;
    expect(result.some(({ field }) => field.includes(place))).toBe(true);
  },
);
