import { afterEach, beforeEach, expect, test } from "bun:test";
import type { PersistentVolumeClaim } from "../api/types/core-v1.ts";
import { ClaimProtection } from "./claim-protection.ts";
import { ControllerTest } from "./testing.ts";
import { startVolumeProtection } from "./volume-protection.ts";

let world: ControllerTest;
let leader: DisposableStack;
/** Number of checks of claims. */
let checks: number;

beforeEach(async () => {
  world = await ControllerTest.open();
  leader = new DisposableStack();
  const { store, clock, onError } = world;
  const [claims, pods] = [world.registry("persistentvolumeclaims"), world.registry("pods")];
  const volumes = world.registry("persistentvolumes");
  checks = 0;
  const observeQueue = () => ({
    added() {},
    started: () => void checks++,
    ended() {},
    retried() {},
    [Symbol.dispose]() {},
  });
  leader.use(new ClaimProtection({ claims, pods, store, clock, observeQueue, onError }).start());
  leader.use(startVolumeProtection({ volumes, store, clock, onError }));
});

afterEach(async () => {
  leader.dispose();
  await world[Symbol.asyncDispose]();
  expect(world.errors).toEqual([]);
});

const size = { resources: { requests: { storage: "1Gi" } }, accessModes: ["ReadWriteOnce"] };
const createClaim = (name: string, more: object = {}) =>
  world.create("persistentvolumeclaims", {
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "n", ...more },
    spec: size,
  });
const claim = (name: string) => world.get<PersistentVolumeClaim>("persistentvolumeclaims", name);

async function createPod(name: string, volume: object, nodeName?: string, more: object = {}) {
  const spec = {
    containers: [{ name: "c", image: "i" }],
    volumes: [{ name: "v", ...volume }],
    ...(nodeName === undefined ? {} : { nodeName }),
  };
  return world.create("pods", { kind: "Pod", metadata: { name, namespace: "n", ...more }, spec });
}

const using = (claimName: string) => ({ persistentVolumeClaim: { claimName } });

test("a claim that is deleted goes with the last pod on a node that uses it", async () => {
  await createClaim("c");
  await createPod("one", using("c"), "a");
  await createPod("two", using("c"), "a");
  await world.delete("persistentvolumeclaims", "c");
  expect(claim("c")?.metadata.deletionTimestamp).toBeDefined();
  await world.delete("pods", "one", { gracePeriodSeconds: 0 });
  expect(claim("c")).toBeDefined();
  // A pod that has ended may still have the volume mounted.
  await world.update("pods", "two", (old) => ({ ...old, status: { ...old.status, phase: "Succeeded" } }), "status");
  expect(claim("c")).toBeDefined();
  await world.delete("pods", "two", { gracePeriodSeconds: 0 });
  expect(claim("c")).toBeUndefined();
});

test("only a pod that uses the claim causes another check", async () => {
  await createClaim("c");
  await createPod("user", using("c"), "a");
  await createPod("other", using("d"), "a");
  await world.delete("persistentvolumeclaims", "c");
  const before = checks;
  await world.delete("pods", "other", { gracePeriodSeconds: 0 });
  expect(checks).toBe(before);
  await world.delete("pods", "user", { gracePeriodSeconds: 0 });
  expect([checks, claim("c")]).toEqual([before + 1, undefined]);
});

test("a pod without a node holds no claim", async () => {
  await createClaim("c");
  await createPod("p", using("c"));
  await world.delete("persistentvolumeclaims", "c");
  expect(claim("c")).toBeUndefined();
});

test("an ephemeral volume holds the claim that was made for it, until its pod is shut down", async () => {
  const ephemeral = { ephemeral: { volumeClaimTemplate: { spec: size } } };
  const { metadata } = await createPod("p", ephemeral, "a", { finalizers: ["example.com/hold"] });
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: metadata.uid, controller: true };
  await createClaim("p-v", { ownerReferences: [owner] });
  await world.delete("persistentvolumeclaims", "p-v");
  expect(claim("p-v")).toBeDefined();
  await world.delete("pods", "p", { gracePeriodSeconds: 0 });
  expect(claim("p-v")).toBeUndefined();
  await createPod("other", ephemeral, "a");
  await createClaim("other-v");
  await world.delete("persistentvolumeclaims", "other-v");
  expect(claim("other-v")).toBeUndefined();
});

test("claims and volumes that lack the finalizer get it", async () => {
  await createClaim("c");
  const withoutFinalizers = (old: any) => ({ ...old, metadata: { ...old.metadata, finalizers: [] } });
  await world.update("persistentvolumeclaims", "c", withoutFinalizers);
  expect(claim("c")?.metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]);
});

test("a volume that is deleted goes when it is no longer bound", async () => {
  const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp" } };
  await world.create("persistentvolumes", { kind: "PersistentVolume", metadata: { name: "v" }, spec });
  const inPhase = (phase: string) =>
    world.update("persistentvolumes", "v", (old) => ({ ...old, status: { phase } }), "status");
  const volume = () => world.get("persistentvolumes", "v", "");
  await inPhase("Bound");
  await world.delete("persistentvolumes", "v");
  expect(volume()).toBeDefined();
  await inPhase("Released");
  expect(volume()).toBeUndefined();
});
