import { beforeEach, expect, test } from "bun:test";
import type { Node, PersistentVolumeSpec, Pod, Volume } from "../../api/types/core-v1.ts";
import { claimedVolume } from "./claimed-volume.ts";
import { FakeServer } from "./testing.ts";

const pod: Pod = { kind: "Pod", apiVersion: "v1", metadata: { name: "web", namespace: "shop", uid: "u1" } };
const node: Node = { kind: "Node", apiVersion: "v1", metadata: { name: "node-1", labels: { disk: "fast" } } };
const ofClaim: Volume = { name: "data", persistentVolumeClaim: { claimName: "claim" } };
let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
});

function bind(spec: Partial<PersistentVolumeSpec>, claim: Record<string, unknown> = {}, name = "claim"): void {
  server.set("persistentvolumeclaims", {
    metadata: { name, namespace: "shop", uid: "c1" },
    spec: { volumeName: "pv" },
    status: { phase: "Bound" },
    ...claim,
  });
  server.set("persistentvolumes", { metadata: { name: "pv" }, spec: { claimRef: { uid: "c1" }, ...spec } });
}

const find = (volume = ofClaim) => claimedVolume(server, pod, volume, node);
const local = (value: string): Partial<PersistentVolumeSpec> => ({
  local: { path: "/tmp" },
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "In", values: [value] }] }] },
  },
});

test("a claim leads to the directory of its volume", async () => {
  bind({ hostPath: { path: "/srv/data" } });
  expect(await find()).toEqual({ path: "/srv/data", isReadOnly: false });
  bind(local("fast"));
  const readOnly = { ...ofClaim, persistentVolumeClaim: { claimName: "claim", readOnly: true } };
  expect(await find(readOnly)).toEqual({ path: "/tmp", isReadOnly: true });
});

test.each([
  [local("slow"), {}, "no matching NodeSelectorTerms"],
  [{ local: { path: "/nonexistent" } }, {}, 'path "/nonexistent" does not exist'],
  [{ local: { path: "/dev/null" } }, {}, "only directory and block device are supported"],
  [{ local: { path: "/etc/passwd" } }, {}, "only directory and block device are supported"],
  [{ nfs: { server: "s", path: "/" } }, {}, /^no volume plugin matched: .* hostPath and local$/],
  [
    { volumeMode: "Block" as const, local: { path: "/tmp" } },
    {},
    "volume data has volumeMode Block, but is specified in volumeMounts",
  ],
  [{}, { status: { phase: "Pending" } }, "error processing PVC shop/claim: PVC is not bound"],
  [
    {},
    { metadata: { name: "claim", namespace: "shop", uid: "c1", deletionTimestamp: "2026-01-01T00:00:00Z" } },
    "error processing PVC shop/claim: PVC is being deleted",
  ],
  [
    { claimRef: { uid: "c2" } },
    {},
    "error processing PVC shop/claim: found PV object pv but its pv.Spec.ClaimRef.UID c2 does not point to claim.UID c1",
  ],
  [
    {},
    { spec: { volumeName: "other" } },
    'error processing PVC shop/claim: failed to fetch PV other from API server: persistentvolumes "other" not found',
  ],
])("%j and %j are refused", async (spec, claim, problem) => {
  bind(spec, claim);
  await expect(find()).rejects.toThrow(problem);
});

test("a claim that does not exist says so", async () => {
  await expect(find()).rejects.toThrow(
    'error processing PVC shop/claim: failed to fetch PVC from API server: persistentvolumeclaims "claim" not found',
  );
});

test("the claim of an ephemeral volume has to be the pod's own", async () => {
  const volume: Volume = { name: "scratch", ephemeral: {} };
  const metadata = { name: "web-scratch", namespace: "shop", uid: "c1" };
  bind({ hostPath: { path: "/srv" } }, { metadata }, "web-scratch");
  await expect(find(volume)).rejects.toThrow(
    "PVC shop/web-scratch was not created for pod shop/web (pod is not owner)",
  );
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "web", uid: "u1", controller: true }];
  bind({ hostPath: { path: "/srv" } }, { metadata: { ...metadata, ownerReferences } }, "web-scratch");
  expect(await find(volume)).toEqual({ path: "/srv", isReadOnly: false });
});
