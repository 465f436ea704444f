import { expect, test } from "bun:test";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateClaimUpdate } from "./persistent-volume-claim.ts";

const immutable =
  "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
const tooSmall = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity";

test.each<[string, KubeObject, KubeObject, string[]]>([
  ["more storage", bound("10Gi"), bound("12Gi"), []],
  ["less than was asked for, but more than there is", bound("14Gi"), bound("12Gi"), []],
  ["what there is, instead of more", bound("12Gi"), bound("10Gi"), [tooSmall]],
  ["less than there is", bound("10Gi"), bound("5Gi"), [tooSmall]],
  ["another volume", bound("10Gi"), bound("10Gi", { volumeName: "w" }), [immutable]],
  ["a class of attributes", bound("10Gi"), bound("10Gi", { volumeAttributesClassName: "gold" }), []],
  [
    "no class of attributes any more",
    bound("10Gi", { volumeAttributesClassName: "gold" }),
    bound("10Gi"),
    ["spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"],
  ],
])("a bound claim that asks for %s gets the expected answer", (_, before, after, causes) => {
  expect(validateClaimUpdate(after, before).map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
});

/** To a volume of 10 GiB. */
function bound(storage: string, more: JsonObject = {}): KubeObject {
  return {
    kind: "PersistentVolumeClaim",
    apiVersion: "v1",
    metadata: { name: "a", namespace: "n" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeName: "v",
      storageClassName: "fast",
      resources: { requests: { storage } },
      ...more,
    },
    status: { phase: "Bound", capacity: { storage: "10Gi" } },
  } as KubeObject;
}
