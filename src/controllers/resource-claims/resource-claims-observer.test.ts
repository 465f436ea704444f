import { expect, test } from "bun:test";
import type { ResourceClaim } from "../../api/types/resource-v1.ts";
import { traitsOf } from "./resource-claims-observer.ts";

const claim = (annotations: Record<string, string>, adminAccess?: boolean, allocation?: object): ResourceClaim => ({
  kind: "ResourceClaim",
  apiVersion: "resource.k8s.io/v1",
  metadata: { name: "c", annotations },
  spec: {
    devices: { requests: [{ name: "r", exactly: { deviceClassName: "d", ...(adminAccess && { adminAccess }) } }] },
  },
  ...(allocation !== undefined && { status: { allocation } }),
});
const made = { "resource.kubernetes.io/pod-claim-name": "gpu" };

test.each([
  [claim({}), "false", "false", ""],
  [claim(made, true), "false", "true", "resource_claim_template"],
  [
    claim({ ...made, "resource.kubernetes.io/extended-resource-claim": "true" }, false, {}),
    "true",
    "false",
    "extended_resource",
  ],
] as const)("a claim has upstream's labels", (one, allocated, adminAccess, source) => {
  expect(traitsOf(one)).toEqual({ allocated, adminAccess, source });
});
