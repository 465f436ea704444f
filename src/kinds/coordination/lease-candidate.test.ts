import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "coordination.k8s.io/v1beta1/leasecandidates";
const minimal: JsonObject = { spec: { leaseName: "a", binaryVersion: "1.36.0", strategy: "example.com/first" } };
const rich: JsonObject = {
  spec: {
    leaseName: "a",
    binaryVersion: "1.36.0-rc.1+build",
    emulationVersion: "1.35.0",
    strategy: "OldestEmulationVersion",
    pingTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a LeaseCandidate with %s is accepted", async (_, candidate) => {
  expect(await refusal(path, candidate)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["leaseName", undefined, "leaseName: Required value"],
  ["binaryVersion", undefined, "binaryVersion: Required value"],
  [
    "binaryVersion",
    "v1",
    'binaryVersion: Invalid value: "v1": must be a valid semantic version',
    'binaryVersion: Invalid value: "v1": must be greater than or equal to `emulationVersion`',
  ],
  [
    "binaryVersion",
    "1.34.9",
    'binaryVersion: Invalid value: "1.34.9": must be greater than or equal to `emulationVersion`',
  ],
  ["strategy", undefined, "strategy: Required value"],
  [
    "emulationVersion",
    undefined,
    "emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
  ],
])("a LeaseCandidate with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, `spec.${field}`, value))).toEqual(causes.map((cause) => `spec.${cause}`));
});

test("it stays a candidate for the same lease", async () => {
  expect(await updateRefusal(path, rich, changed(rich, "spec.leaseName", "b"))).toEqual([
    'spec.leaseName: Invalid value: "b": field is immutable',
  ]);
});
