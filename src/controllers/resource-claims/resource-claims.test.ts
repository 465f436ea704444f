import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Pod } from "../../api/types/core-v1.ts";
import type { ResourceClaim } from "../../api/types/resource-v1.ts";
import { ControllerTest } from "../testing.ts";
import { startResourceClaims } from "./start-resource-claims.ts";

const claimResource = "resourceclaims.resource.k8s.io";
const finalizer = "resource.kubernetes.io/delete-protection";
const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpus" } }] };
const allocation = {
  devices: { results: [{ request: "gpu", driver: "gpu.example.com", pool: "p", device: "d" }] },
};

let objects: ControllerTest;
let running: Disposable | undefined;

beforeEach(async () => {
  objects = await ControllerTest.open();
});

afterEach(async () => {
  running?.[Symbol.dispose]();
  await objects[Symbol.asyncDispose]();
  expect(objects.errors).toEqual([]);
});

async function start(): Promise<void> {
  running?.[Symbol.dispose]();
  running = startResourceClaims(objects);
  await objects.pass();
}

async function createTemplate(): Promise<void> {
  const spec = { metadata: { labels: { team: "a" }, annotations: { note: "x" } }, spec: { devices } };
  const metadata = { name: "gpu", namespace: "n" };
  const apiVersion = "resource.k8s.io/v1";
  await objects.create("resourceclaimtemplates.resource.k8s.io", {
    kind: "ResourceClaimTemplate",
    apiVersion,
    metadata,
    spec,
  });
  await objects.pass();
}

async function createPod(claim: object, more: object = {}): Promise<Pod> {
  const container = { name: "c", image: "i" };
  const metadata = { name: "p", namespace: "n", finalizers: ["example.com/held"] };
  const spec = { containers: [container], resourceClaims: [{ name: "gpu", ...claim }], ...more };
  const created = await objects.create("pods", { kind: "Pod", metadata, spec });
  await objects.pass();
  return created as unknown as Pod;
}

async function createClaim(name: string, finalizers: string[] = []): Promise<void> {
  const metadata = { name, namespace: "n", finalizers };
  await objects.create(claimResource, {
    kind: "ResourceClaim",
    apiVersion: "resource.k8s.io/v1",
    metadata,
    spec: { devices },
  });
  await objects.pass();
}

const setStatus = (name: string, status: object) =>
  objects.update(claimResource, name, (old) => ({ ...old, status: { ...old.status, ...status } }), "status");
const claims = () => objects.list<ResourceClaim>(claimResource);
const names = () => objects.get<Pod>("pods", "p")?.status?.resourceClaimStatuses;
const end = () =>
  objects.update("pods", "p", (pod) => ({ ...pod, status: { ...pod.status, phase: "Succeeded" } }), "status");

test("a pod gets a claim from its template, and the name of it in its status", async () => {
  await createTemplate();
  await start();
  const pod = await createPod({ resourceClaimTemplateName: "gpu" });
  const [claim, ...others] = claims();
  expect(others).toEqual([]);
  expect(claim?.metadata).toMatchObject({
    generateName: "p-gpu-",
    labels: { team: "a" },
    annotations: { note: "x", "resource.kubernetes.io/pod-claim-name": "gpu" },
    ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: pod.metadata.uid, controller: true }],
  });
  expect(names()).toEqual([{ name: "gpu", resourceClaimName: claim?.metadata.name as string }]);
  await start();
  expect(claims()).toHaveLength(1);
});

test("a claim whose name did not reach the status is found again, and one that was deleted is made again", async () => {
  await createTemplate();
  await start();
  await createPod({ resourceClaimTemplateName: "gpu" });
  const [first] = claims();
  await objects.update(
    "pods",
    "p",
    (pod) => ({ ...pod, status: { ...pod.status, resourceClaimStatuses: [] } }),
    "status",
  );
  expect(claims().map(({ metadata }) => metadata.uid)).toEqual([first?.metadata.uid]);
  expect(names()).toHaveLength(1);
  await objects.delete(claimResource, first?.metadata.name ?? "");
  const [second] = claims();
  expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
  expect(names()).toEqual([{ name: "gpu", resourceClaimName: second?.metadata.name as string }]);
});

test("a pod waits for its template, which an Event says", async () => {
  await start();
  await createPod({ resourceClaimTemplateName: "gpu" });
  expect(objects.events()).toEqual([
    'FailedResourceClaimCreation: PodResourceClaim gpu: resource claim template "gpu": resourceclaimtemplate.resource.k8s.io "gpu" not found',
  ]);
  await createTemplate();
  expect(claims()).toHaveLength(1);
});

test("a pod that was placed without the scheduler reserves its claim", async () => {
  await createClaim("shared", [finalizer]);
  await start();
  const pod = await createPod({ resourceClaimName: "shared" }, { nodeName: "node-1" });
  expect(claims()[0]?.status?.reservedFor).toBeUndefined();
  await setStatus("shared", { allocation });
  expect(claims()[0]?.status?.reservedFor).toEqual([{ resource: "pods", name: "p", uid: pod.metadata.uid as string }]);
});

test("a claim is released when no pod uses it any more", async () => {
  await createClaim("shared", [finalizer]);
  await start();
  const pod = await createPod({ resourceClaimName: "shared" });
  const users = [
    { resource: "pods", name: "p", uid: pod.metadata.uid },
    { resource: "pods", name: "gone", uid: "u" },
  ];
  await setStatus("shared", { allocation, reservedFor: users });
  expect(claims()[0]?.status?.reservedFor).toHaveLength(1);
  await end();
  expect(claims()[0]?.status).toEqual({});
  expect(claims()[0]?.metadata.finalizers).toBeUndefined();
});

test("users of an unknown kind keep their reservation", async () => {
  await createClaim("shared", [finalizer]);
  await start();
  await setStatus("shared", {
    allocation,
    reservedFor: [{ apiGroup: "example.com", resource: "robots", name: "r", uid: "u" }],
  });
  expect(claims()[0]?.status?.reservedFor).toHaveLength(1);
});

test("a deleted claim that nobody uses goes, with its devices", async () => {
  await createClaim("shared", [finalizer]);
  await start();
  await setStatus("shared", { allocation });
  expect(claims()[0]?.status?.allocation).toBeDefined();
  await objects.delete(claimResource, "shared");
  expect(claims()).toEqual([]);
});

test("a generated claim goes when its pod has ended", async () => {
  await createTemplate();
  await start();
  await createPod({ resourceClaimTemplateName: "gpu" });
  expect(claims()).toHaveLength(1);
  await end();
  expect(claims()).toEqual([]);
});
