import { afterEach, beforeEach, expect, test } from "bun:test";
import type { PersistentVolumeClaim } from "../api/types/core-v1.ts";
import { EphemeralVolumes } from "./ephemeral-volumes.ts";
import { ControllerTest } from "./testing.ts";

let world: ControllerTest;
let leader: Disposable;
let counts: string[];

beforeEach(async () => {
  world = await ControllerTest.open();
  counts = [];
  leader = lead();
});

afterEach(async () => {
  leader[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
  expect(world.errors).toEqual([]);
});

function lead(): Disposable {
  const { store, clock, onError } = world;
  const [pods, claims] = [world.registry("pods"), world.registry("persistentvolumeclaims")];
  const observer = { creating: () => void counts.push("creating"), failed: () => void counts.push("failed") };
  return new EphemeralVolumes({
    pods,
    claims,
    events: world.registry("events"),
    store,
    clock,
    onError,
    observer,
  }).start();
}

const spec = { resources: { requests: { storage: "1Gi" } }, accessModes: ["ReadWriteOnce"] };
const template = { metadata: { labels: { app: "x" }, annotations: { note: "y" } }, spec };

async function createPod(name: string): Promise<string> {
  const volumes = [
    { name: "scratch", ephemeral: { volumeClaimTemplate: template } },
    { name: "empty", emptyDir: {} },
  ];
  const pod = { containers: [{ name: "c", image: "i" }], volumes };
  const { metadata } = await world.create("pods", { kind: "Pod", metadata: { name, namespace: "n" }, spec: pod });
  await world.pass();
  return metadata.uid ?? "";
}

const claim = (name: string) => world.get<PersistentVolumeClaim>("persistentvolumeclaims", name);

test("a pod gets a claim for each of its ephemeral volumes", async () => {
  const uid = await createPod("p");
  expect(claim("p-scratch")).toMatchObject({
    metadata: {
      labels: { app: "x" },
      annotations: { note: "y" },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid, controller: true, blockOwnerDeletion: true }],
    },
    spec,
  });
  expect(world.list("persistentvolumeclaims")).toHaveLength(1);
  expect(counts).toEqual(["creating"]);
});

test("a claim that is deleted before its pod is made again, by a new leader too", async () => {
  await createPod("p");
  const gone = async () => {
    await world.update("persistentvolumeclaims", "p-scratch", (old) => ({
      ...old,
      metadata: { ...old.metadata, finalizers: [] },
    }));
    await world.delete("persistentvolumeclaims", "p-scratch");
  };
  await gone();
  expect(claim("p-scratch")).toBeDefined();
  leader[Symbol.dispose]();
  await gone();
  expect(claim("p-scratch")).toBeUndefined();
  leader = lead();
  await world.pass();
  expect(claim("p-scratch")).toBeDefined();
  await world.delete("pods", "p", { gracePeriodSeconds: 0 });
  await gone();
  expect(claim("p-scratch")).toBeUndefined();
});

test("a claim that was not made for the pod is left alone, and an Event says so", async () => {
  await world.create("persistentvolumeclaims", {
    kind: "PersistentVolumeClaim",
    metadata: { name: "p-scratch", namespace: "n" },
    spec,
  });
  await createPod("p");
  expect(world.events()).toEqual([
    "FailedBinding: ephemeral volume scratch: PVC n/p-scratch was not created for pod n/p (pod is not owner)",
  ]);
  expect(counts).toEqual([]);
  expect(claim("p-scratch")?.metadata.ownerReferences).toBeUndefined();
});
