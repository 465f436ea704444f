import { expect, test } from "bun:test";
import { chosenPlugins, pluginNames } from "./plugin-names.ts";
import { makePlugins } from "./plugins.ts";

test.each([
  [[], [], "ServiceAccount", true],
  [[], [], "OwnerReferencesPermissionEnforcement", false],
  [["OwnerReferencesPermissionEnforcement"], [], "OwnerReferencesPermissionEnforcement", true],
  [[], ["ServiceAccount"], "ServiceAccount", false],
  [["ServiceAccount"], ["ServiceAccount"], "ServiceAccount", true],
])("enabled %j, disabled %j: %s runs: %p", (enabled, disabled, name, runs) => {
  expect(chosenPlugins(enabled, disabled).includes(name as never)).toBe(runs);
});

test("the order of the flags does not matter", () => {
  const all = chosenPlugins([...pluginNames].reverse(), []);
  expect(all).toEqual(pluginNames);
});

test("quotas count requests that every other plugin has accepted", () => {
  expect(pluginNames.slice(-2)).toEqual(["ResourceQuota", "AlwaysDeny"]);
});

test("each plugin has its name", () => {
  const parts = {} as Parameters<typeof makePlugins>[1];
  expect(makePlugins(pluginNames, parts).map(({ name }) => name)).toEqual([...pluginNames]);
});
