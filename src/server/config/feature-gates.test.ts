import { expect, test } from "bun:test";
import types from "../../api/scheme/generated/types.json";
import { StartupError } from "../../process/startup-error.ts";
import { resolveFeatureGates } from "./feature-gates.ts";

const resolve = (asked: Record<string, boolean> = {}) => resolveFeatureGates(new Map(Object.entries(asked)));

test.each([
  ["CBORServingAndStorage", false],
  ["WatchList", true],
  ["APIResponseCompression", true],
  ["ConsistentListFromCache", true],
  ["ListFromCacheSnapshot", true],
  ["AllowUnsafeMalformedObjectDeletion", false],
  ["AuthorizeWithSelectors", true],
  ["DeclarativeValidation", true],
  ["DeclarativeValidationTakeover", false],
  ["GitRepoVolumeDriver", false],
  ["PodCertificateRequest", false],
  ["ResourceHealthStatusMessage", true],
])("the gate %s is %p by default", (name, on) => expect(resolve().enabled(name)).toBe(on));

test("a named gate takes the value asked for", () => {
  expect(resolve({ CBORServingAndStorage: true }).enabled("CBORServingAndStorage")).toBe(true);
  expect(resolve({ WatchList: false }).enabled("WatchList")).toBe(false);
});

test("AllAlpha and AllBeta set what is not named itself", () => {
  const gates = resolve({ CBORServingAndStorage: false, AllAlpha: true, AllBeta: false, WatchList: true });
  expect(gates.enabled("AllowUnsafeMalformedObjectDeletion")).toBe(true);
  expect(gates.enabled("CBORServingAndStorage")).toBe(false);
  expect(gates.enabled("APIResponseCompression")).toBe(false);
  expect(gates.enabled("WatchList")).toBe(true);
  expect(gates.enabled("ConsistentListFromCache")).toBe(true);
});

test("an unknown gate is refused by name", () => {
  expect(() => resolve({ Nonsense: true })).toThrow(StartupError);
  expect(() => resolve({ Nonsense: true })).toThrow(/unknown feature gate "Nonsense"/);
  expect(() => resolve({ toString: true })).toThrow(StartupError);
  // Gates of features that were finished long ago, and of a later release.
  expect(() => resolve({ ServerSideApply: true })).toThrow(StartupError);
  expect(() => resolve({ EvictionRequestAPI: true })).toThrow(StartupError);
});

test("a locked gate may be named but not changed", () => {
  expect(resolve({ DeclarativeValidation: true }).enabled("DeclarativeValidation")).toBe(true);
  expect(() => resolve({ DeclarativeValidation: false })).toThrow(/locked to true/);
});

test("every gate is listed once, in order of name", () => {
  const names = resolve()
    .list()
    .map((gate) => gate.name);
  expect(names).toEqual([...new Set(names)].sort());
  expect(names.length).toBeGreaterThan(100);
});

test("gates that are finished or deprecated warn when they are named, others do not", () => {
  expect(resolve({ SidecarContainers: true, KMSv1: true, WatchList: true, AllBeta: true }).warnings).toEqual([
    "Setting GA feature gate SidecarContainers=true. It will be removed in a future release.",
    "Setting deprecated feature gate KMSv1=true. It will be removed in a future release.",
  ]);
  expect(resolve().warnings).toEqual([]);
});

test("every gate that guards a field is in the table", () => {
  const gates = resolve();
  const guards = Object.values(types as unknown as Record<string, { fields?: { gate?: string }[] }>)
    .flatMap(({ fields = [] }) => fields)
    .flatMap(({ gate }) => gate?.split(",") ?? []);
  expect(guards.length).toBeGreaterThan(50);
  for (const gate of guards) expect(() => gates.enabled(gate)).not.toThrow();
});
