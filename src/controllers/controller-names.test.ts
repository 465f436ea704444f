import { expect, test } from "bun:test";
import { controllerNames, parseControllers } from "./controller-names.ts";

const publisher = "root-ca-certificate-publisher-controller";
const accounts = "serviceaccount-controller";
const cleaner = "token-cleaner-controller";
const defaults = [...parseControllers("*")];
const without = (...names: readonly string[]) => defaults.filter((name) => !names.includes(name));

test("controllers that need a configuration of their own are off by default", () => {
  expect(controllerNames.filter((name) => !defaults.includes(name))).toEqual(["bootstrap-signer-controller", cleaner]);
});

test.each([
  [`*,-${accounts}`, without(accounts)],
  ["*,-root-ca-cert-publisher", without(publisher)],
  ["*,-endpoint,-endpointslice", without("endpoints-controller", "endpointslice-controller")],
  ["-garbagecollector,garbage-collector-controller", ["garbage-collector-controller"]],
  ["*,tokencleaner", [...defaults, cleaner]],
  [`-${accounts},*`, without(accounts)],
  [accounts, [accounts]],
  [`-${accounts}`, []],
])("--controllers=%s runs %p", (text, names) => {
  expect([...parseControllers(text)]).toEqual(names as never);
});

test.each(["x", "*,-x", "", "-*x"])("--controllers=%s is rejected", (text) => {
  expect(() => parseControllers(text)).toThrow(/^--controllers: /);
});

test("the documentation has every controller", async () => {
  const text = await Bun.file(new URL("../../docs/controllers.md", import.meta.url)).text();
  expect(controllerNames.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
