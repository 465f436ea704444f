import { expect, test } from "bun:test";
import type { PersistentVolumeSpec } from "../../api/types/core-v1.ts";
import { persistentVolumeWarnings } from "./persistent-volume-warnings.ts";

const warningsOf = (spec: PersistentVolumeSpec, annotations: Record<string, string> = {}) =>
  persistentVolumeWarnings({ apiVersion: "v1", kind: "PersistentVolume", metadata: { annotations }, spec });

test.each<[spec: PersistentVolumeSpec, ...warnings: string[]]>([
  [{ hostPath: { path: "/a" } }],
  [{ cephfs: { monitors: ["a"] } }, "spec.cephfs: deprecated in v1.28, non-functional in v1.31+"],
  [{ storageos: {} }, "spec.storageOS: deprecated in v1.22, non-functional in v1.25+"],
  [
    { persistentVolumeReclaimPolicy: "Recycle" },
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
  ],
])("a volume with %j is warned about", (spec, ...warnings) => {
  expect(warningsOf(spec)).toEqual(warnings);
});

test("an old annotation names its successor", () => {
  expect(warningsOf({}, { "volume.beta.kubernetes.io/mount-options": "ro" })).toEqual([
    'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
  ]);
});
