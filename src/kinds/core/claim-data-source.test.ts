import { expect, test } from "bun:test";
import type { PersistentVolumeClaimSpec } from "../../api/types/core-v1.ts";
import { settleDataSource } from "./claim-data-source.ts";

const claim = { apiGroup: null, kind: "PersistentVolumeClaim", name: "a" };
const other = { apiGroup: "example.com", kind: "Image", name: "a" };

function settled(spec: PersistentVolumeClaimSpec, old?: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const objectOf = (own: PersistentVolumeClaimSpec) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {},
    spec: structuredClone(own),
  });
  const object = objectOf(spec);
  settleDataSource(object, old === undefined ? undefined : objectOf(old));
  return object.spec;
}

test.each<[string, PersistentVolumeClaimSpec, PersistentVolumeClaimSpec]>([
  ["the newer field fills the older one", { dataSourceRef: other }, { dataSource: other, dataSourceRef: other }],
  ["the older field fills the newer one", { dataSource: claim }, { dataSource: claim, dataSourceRef: claim }],
  ["the older field ignores other kinds", { dataSource: other }, {}],
  [
    "a source in another namespace has no older form",
    { dataSourceRef: { ...claim, namespace: "n" } },
    { dataSourceRef: { ...claim, namespace: "n" } },
  ],
])("%s", (_, spec, expected) => {
  expect(settled(spec)).toEqual(expected);
});

test("an update keeps a source of another kind", () => {
  const both = { dataSource: other, dataSourceRef: other };
  expect(settled({ dataSource: other }, both)).toEqual(both);
});
