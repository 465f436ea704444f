import { expect, test } from "bun:test";
import { claimWarnings } from "./claim-warnings.ts";

const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim" };

test("a claim that asks for part of a byte is warned about", () => {
  const resources = { requests: { storage: "1500m" }, limits: { storage: "1Gi" } };
  expect(claimWarnings({ ...claim, metadata: {}, spec: { resources } })).toEqual([
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});

test("a class in an annotation is warned about", () => {
  const metadata = { annotations: { "volume.beta.kubernetes.io/storage-class": "fast" } };
  expect(claimWarnings({ ...claim, metadata })).toEqual([
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
  ]);
});
