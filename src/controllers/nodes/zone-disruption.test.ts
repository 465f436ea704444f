import { expect, test } from "bun:test";
import { type NodeLifecycleSettings, nodeLifecycleDefaults } from "./node-lifecycle-settings.ts";
import { nextDisruption, type ZoneState, zoneStateOf } from "./zone-disruption.ts";

test.each([
  [0, 0, "Normal"],
  [1, 0, "Normal"],
  [0, 1, "FullDisruption"],
  [1, 2, "Normal"],
  [2, 3, "PartialDisruption"],
  [3, 3, "Normal"],
  [9, 11, "PartialDisruption"],
] as const)("a zone with %p ready nodes and %p others is in state %p", (ready, notReady, state) => {
  expect(zoneStateOf({ ready, notReady }, nodeLifecycleDefaults)).toBe(state);
});

const healthy = { ready: 3, notReady: 0 };
const down = { ready: 0, notReady: 3 };
const partial = { ready: 1, notReady: 3 };
const large = { ready: 20, notReady: 40 };

function next(
  before: Record<string, ZoneState>,
  zones: Record<string, typeof healthy>,
  settings: Partial<NodeLifecycleSettings> = {},
) {
  const { states, rates, total } = nextDisruption(new Map(Object.entries(before)), new Map(Object.entries(zones)), {
    ...nodeLifecycleDefaults,
    ...settings,
  });
  return { states: Object.fromEntries(states), rates: Object.fromEntries(rates), total };
}

test.each([
  ["new", {}, { a: healthy }, { a: 0.1 }, undefined],
  ["unchanged", { a: "Normal" }, { a: healthy }, {}, undefined],
  ["partly down", { a: "Normal", b: "Normal" }, { a: partial, b: healthy }, { a: 0 }, undefined],
  ["large and partly down", { a: "Normal" }, { a: large }, { a: 0.01 }, undefined],
  ["down beside another", { a: "Normal", b: "Normal" }, { a: down, b: healthy }, { a: 0.1 }, undefined],
  ["down with all others", { a: "FullDisruption", b: "Normal" }, { a: down, b: down }, { a: 0, b: 0 }, "begins"],
  ["still down with all others", { a: "FullDisruption" }, { a: down }, {}, undefined],
  ["back", { a: "FullDisruption", b: "FullDisruption" }, { a: healthy, b: down }, { a: 0.1, b: 0.1 }, "ends"],
  ["gone", { a: "FullDisruption", b: "Normal" }, { b: healthy }, {}, undefined],
] as const)("a zone that is %s", (_, before, zones, rates, total) => {
  const disruption = next(before, zones);
  expect(disruption.rates).toEqual(rates);
  expect(disruption.total).toBe(total as never);
  expect(Object.keys(disruption.states)).toEqual(Object.keys(zones));
});

test.each([
  [{ evictionRate: 2 }, { a: 2, b: 0 }],
  [
    { largeZoneSize: 3, secondaryEvictionRate: 0.5 },
    { a: 0.1, b: 0.5 },
  ],
  [{ unhealthyFraction: 0.8 }, { a: 0.1, b: 0.1 }],
])("the rates follow the settings %p", (settings, rates) => {
  expect(next({}, { a: healthy, b: partial }, settings).rates).toEqual(rates);
});
