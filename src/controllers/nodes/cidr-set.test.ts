import { expect, test } from "bun:test";
import { type Cidr, parseCidr } from "../../api/validation/ip.ts";
import { CidrSet } from "./cidr-set.ts";

const cidr = (text: string) => parseCidr(text) as Cidr;
const open = (text: string, nodePrefixBits: number) => new CidrSet({ cidr: cidr(text), nodePrefixBits });

test.each([
  ["10.244.0.0/16", 24, ["10.244.0.0/24", "10.244.1.0/24"]],
  ["10.244.3.7/22", 23, ["10.244.0.0/23", "10.244.2.0/23", undefined]],
  ["192.0.2.0/24", 24, ["192.0.2.0/24", undefined]],
  ["fd00:10:244::/56", 64, ["fd00:10:244::/64", "fd00:10:244:1::/64"]],
  ["fd00::/112", 120, ["fd00::/120", "fd00::100/120"]],
])("the parts of %s with %p bits are in order", (range, bits, parts) => {
  const set = open(range, bits);
  expect(parts.map(() => set.allocate())).toEqual(parts);
});

test("a part that comes back is used after all others", () => {
  const set = open("10.0.0.0/22", 24);
  const [first = ""] = [set.allocate(), set.allocate()];
  set.release(cidr(first));
  expect([set.allocate(), set.allocate(), set.allocate(), set.allocate()]).toEqual([
    "10.0.2.0/24",
    "10.0.3.0/24",
    first,
    undefined,
  ]);
});

test.each([
  ["10.0.1.0/24", ["10.0.0.0/24", "10.0.2.0/24", "10.0.3.0/24"]],
  ["10.0.1.128/25", ["10.0.0.0/24", "10.0.2.0/24", "10.0.3.0/24"]],
  ["10.0.2.0/23", ["10.0.0.0/24", "10.0.1.0/24"]],
  ["10.0.0.0/8", []],
])("parts that overlap with %s are not given out", (used, parts) => {
  const set = open("10.0.0.0/22", 24);
  expect(set.occupy(cidr(used))).toBe(true);
  expect(set.occupy(cidr(used))).toBe(true);
  expect([...parts, undefined].map(() => set.allocate())).toEqual([...parts, undefined]);
});

test("a part with several users is free when all have given it back", () => {
  const set = open("10.0.0.0/23", 24);
  const part = cidr(set.allocate() ?? "");
  set.occupy(part);
  set.allocate();
  set.release(part);
  expect(set.allocate()).toBeUndefined();
  set.release(part);
  expect(set.allocate()).toBe("10.0.0.0/24");
});

test.each(["10.0.4.0/24", "9.255.255.0/24", "fd00::/64"])("%s is outside of the range", (outside) => {
  const set = open("10.0.0.0/22", 24);
  expect(set.occupy(cidr(outside))).toBe(false);
  expect(set.allocate()).toBe("10.0.0.0/24");
});
