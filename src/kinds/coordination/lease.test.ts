import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "coordination.k8s.io/v1/leases";
const rich: JsonObject = {
  spec: {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000001Z",
    strategy: "OldestEmulationVersion",
    preferredHolder: "b",
  },
};

test.each<[string, JsonObject]>([
  ["nothing", {}],
  ["everything", rich],
])("a Lease with %s is accepted", async (_, lease) => {
  expect(await refusal(path, lease)).toEqual([]);
});

const cases: [field: string, value: JsonValue | undefined, ...causes: string[]][] = [
  ["leaseDurationSeconds", 0, "leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
  ["leaseDurationSeconds", -1, "leaseDurationSeconds: Invalid value: -1: must be greater than 0"],
  ["leaseTransitions", -1, "leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
  ["strategy", undefined, "preferredHolder: Forbidden: may only be specified if `strategy` is defined"],
  ["strategy", "Newest", 'strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"'],
  [
    "strategy",
    "example.com/a b",
    "strategy.strategy: Invalid value: \"example.com/a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
];
test.each(cases)("a Lease with %s = %j is refused", async (field, value, ...causes) => {
  const expected = causes.map((cause) => `spec.${cause}`);
  expect(await refusal(path, changed(rich, `spec.${field}`, value))).toEqual(expected);
  expect(await updateRefusal(path, {}, changed(rich, `spec.${field}`, value))).toEqual(expected);
});
