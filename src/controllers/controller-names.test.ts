import { expect, test } from "bun:test";
import { parseControllers } from "./controller-names.ts";

const publisher = "root-ca-certificate-publisher-controller";
const accounts = "serviceaccount-controller";
const others = [
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-cleaner-controller",
  "certificatesigningrequest-signing-controller",
  "clusterrole-aggregation-controller",
  "garbage-collector-controller",
  "node-lifecycle-controller",
  "pod-garbage-collector-controller",
];
const tokens = [
  "serviceaccount-token-controller",
  "taint-eviction-controller",
  "ttl-after-finished-controller",
  "ttl-controller",
  "validatingadmissionpolicy-status-controller",
];
const cleaner = "token-cleaner-controller";

test.each([
  ["*", [...others, publisher, accounts, ...tokens]],
  [`*,-${accounts}`, [...others, publisher, ...tokens]],
  ["*,-root-ca-cert-publisher", [...others, accounts, ...tokens]],
  ["-garbagecollector,garbage-collector-controller", ["garbage-collector-controller"]],
  ["*,tokencleaner", [...others, publisher, accounts, ...tokens, cleaner]],
  [`-${accounts},*`, [...others, publisher, ...tokens]],
  [accounts, [accounts]],
  [`-${accounts}`, []],
])("--controllers=%s runs %p", (text, names) => {
  expect([...parseControllers(text)]).toEqual(names as never);
});

test.each(["x", "*,-x", "", "-*x"])("--controllers=%s is rejected", (text) => {
  expect(() => parseControllers(text)).toThrow(/^--controllers: /);
});
