import { expect, test } from "bun:test";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateClaimStatus, validateClaimUpdate } from "./persistent-volume-claim.ts";

const immutable =
  "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
const gold = { volumeAttributesClassName: "gold" };
const noClass = (to: string) =>
  `spec.volumeAttributesClassName: Forbidden: update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`;
const tooSmall = "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity";

test.each<[string, KubeObject, KubeObject, string[]]>([
  ["more storage", bound("10Gi"), bound("12Gi"), []],
  ["less than was asked for, but more than there is", bound("14Gi"), bound("12Gi"), []],
  ["what there is, instead of more", bound("12Gi"), bound("10Gi"), [tooSmall]],
  ["less than there is", bound("10Gi"), bound("5Gi"), [tooSmall]],
  ["another volume", bound("10Gi"), bound("10Gi", { volumeName: "w" }), [immutable]],
  ["a class of attributes", bound("10Gi"), bound("10Gi", { volumeAttributesClassName: "gold" }), []],
  ["no storage any more", bound("10Gi"), bound(undefined), [immutable, tooSmall]],
  ["no class of attributes any more", bound("10Gi", gold), bound("10Gi"), []],
  ["no class of attributes, but has one", has(bound("10Gi", gold), "gold"), bound("10Gi"), [noClass("nil")]],
  [
    "an empty class of attributes, but has one",
    has(bound("10Gi", gold), "gold"),
    bound("10Gi", { volumeAttributesClassName: "" }),
    [noClass("empty string")],
  ],
])("a bound claim that asks for %s gets the expected answer", (_, before, after, causes) => {
  expect(validateClaimUpdate(after, before).map(({ field, message }) => `${field}: ${message}`)).toEqual(causes);
});

test("a claim that is not bound keeps its class of attributes", () => {
  const pending = (name: string) => ({
    ...bound("1Gi", { volumeAttributesClassName: name }),
    status: { phase: "Pending" },
  });
  const errors = validateClaimUpdate(pending("silver"), pending("gold"));
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([immutable]);
});

test("the status of a claim names the fields that are wrong", () => {
  const status: JsonObject = {
    capacity: { storage: "-1500m" },
    allocatedResourceStatuses: { storage: "Growing" },
    allocatedResources: { storage: "-1", cpu: "1" },
  };
  const errors = validateClaimStatus({ ...bound("1Gi"), status } as KubeObject);
  expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    "status.capacity[storage]: Invalid value: -2: must be a valid resource quantity",
    expect.stringMatching(/^status.allocatedResourceStatuses: Unsupported value: "storage": supported values: /),
    "status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity",
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
  ]);
});

/** To a volume of 10 GiB. */
function bound(storage: string | undefined, more: JsonObject = {}): KubeObject {
  return {
    kind: "PersistentVolumeClaim",
    apiVersion: "v1",
    metadata: { name: "a", namespace: "n" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeName: "v",
      storageClassName: "fast",
      resources: storage === undefined ? {} : { requests: { storage } },
      ...more,
    },
    status: { phase: "Bound", capacity: { storage: "10Gi" } },
  } as KubeObject;
}

/** Adds the class of attributes that the volume has. */
function has(claim: KubeObject, currentVolumeAttributesClassName: string): KubeObject {
  return { ...claim, status: { ...(claim["status"] as JsonObject), currentVolumeAttributesClassName } };
}
