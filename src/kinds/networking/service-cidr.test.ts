import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "networking.k8s.io/v1/servicecidrs";
const minimal: JsonObject = { spec: { cidrs: ["10.1.0.0/16"] } };
const rich: JsonObject = { spec: { cidrs: ["10.1.0.0/16", "fd00::/112"] } };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ServiceCIDR with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.cidrs", undefined, ["spec.cidrs: Required value: at least one CIDR required"]],
  ["spec.cidrs", [], ["spec.cidrs: Required value: at least one CIDR required"]],
  [
    "spec.cidrs",
    ["10.1.0.0"],
    ['spec.cidrs[0]: Invalid value: "10.1.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  ],
  [
    "spec.cidrs",
    ["10.1.0.1/16"],
    ['spec.cidrs[0]: Invalid value: "10.1.0.1/16": must not have bits set beyond the prefix length'],
  ],
  [
    "spec.cidrs",
    ["10.1.0.0/16", "10.2.0.0/16"],
    [
      'spec.cidrs: Invalid value: ["10.1.0.0/16","10.2.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
    ],
  ],
  [
    "spec.cidrs",
    ["10.1.0.0/16", "fd00::/112", "10.2.0.0/16"],
    ['spec.cidrs: Invalid value: {"CIDRs":["10.1.0.0/16","fd00::/112","10.2.0.0/16"]}: may only hold up to 2 values'],
  ],
  [
    "spec.cidrs",
    ["FD00::/112"],
    ['spec.cidrs[0]: Invalid value: "FD00::/112": must be in canonical form ("fd00::/112")'],
  ],
  [
    "spec.cidrs",
    ["10.01.0.0/16"],
    ['spec.cidrs[0]: Invalid value: "10.01.0.0/16": must not have leading 0s in IP or prefix length'],
  ],
  [
    "spec.cidrs",
    ["::ffff:10.0.0.0/104"],
    ['spec.cidrs[0]: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address'],
  ],
])("a ServiceCIDR with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.cidrs", ["10.1.0.0/16"], ['spec.cidrs: Invalid value: ["10.1.0.0/16"]: field is immutable']],
  [
    "spec.cidrs",
    ["fd00::/112", "10.1.0.0/16"],
    [
      'spec.cidrs[0]: Invalid value: "fd00::/112": field is immutable',
      'spec.cidrs[1]: Invalid value: "10.1.0.0/16": field is immutable',
    ],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
