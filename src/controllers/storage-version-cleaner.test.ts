import { afterEach, beforeEach, expect, test } from "bun:test";
import type { StorageVersion } from "../api/types/apiserverinternal-v1alpha1.ts";
import { storageVersion } from "../kinds/apiserverinternal/storage-version.ts";
import { strategyOf } from "../registry/kind.ts";
import { startStorageVersionCleaner } from "./storage-version-cleaner.ts";
import { ControllerTest } from "./testing.ts";

const resource = "storageversions.internal.apiserver.k8s.io";
const leaseResource = "leases.coordination.k8s.io";
const name = "apps.deployments";

let objects: ControllerTest;
let running: Disposable | undefined;

beforeEach(async () => {
  objects = await ControllerTest.open();
  await objects.create("namespaces", { kind: "Namespace", metadata: { name: "kube-system" } });
  for (const server of ["apiserver-a", "apiserver-b"]) await createLease(server, "kube-apiserver");
  await createLease("other", "somebody");
});

afterEach(async () => {
  running?.[Symbol.dispose]();
  await objects[Symbol.asyncDispose]();
  expect(objects.errors).toEqual([]);
});

async function createLease(server: string, component: string): Promise<void> {
  const labels = { "apiserver.kubernetes.io/identity": component };
  const metadata = { name: server, namespace: "kube-system", labels };
  await objects.create(leaseResource, { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec: {} });
}

async function note(versions: Record<string, string>): Promise<void> {
  const apiVersion = "internal.apiserver.k8s.io/v1alpha1";
  await objects.create(resource, { kind: "StorageVersion", apiVersion, metadata: { name }, spec: {}, status: {} });
  const storageVersions = Object.entries(versions).map(([apiServerID, encodingVersion]) => ({
    apiServerID,
    encodingVersion,
    decodableVersions: [encodingVersion],
  }));
  await objects.update(resource, name, (old) => ({ ...old, status: { storageVersions } }), "status");
}

async function start(): Promise<void> {
  const versionStatus = strategyOf(storageVersion, "status");
  const [versions, leases] = [objects.registry(resource), objects.registry(leaseResource)];
  running = startStorageVersionCleaner({ ...objects, versions, versionStatus, leases });
  await objects.pass();
}

const found = () => objects.get<StorageVersion>(resource, name, "");
const servers = () => found()?.status.storageVersions?.map(({ apiServerID }) => apiServerID);

test("notes of servers that do not run are removed, and whether the others agree is said", async () => {
  await note({ "apiserver-a": "apps/v1", "apiserver-b": "apps/v1", other: "apps/v1", gone: "apps/v1beta1" });
  await start();
  expect(servers()).toEqual(["apiserver-a", "apiserver-b"]);
  expect(found()?.status).toMatchObject({
    commonEncodingVersion: "apps/v1",
    conditions: [{ type: "AllEncodingVersionsEqual", status: "True", reason: "CommonEncodingVersionSet" }],
  });
});

test("notes go with the Lease of their server, and the object with the last of them", async () => {
  await note({ "apiserver-a": "apps/v1", "apiserver-b": "apps/v1beta1" });
  await start();
  expect(servers()).toHaveLength(2);
  await objects.delete(leaseResource, "apiserver-a", {}, "kube-system");
  expect(servers()).toEqual(["apiserver-b"]);
  await objects.delete(leaseResource, "apiserver-b", {}, "kube-system");
  expect(found()).toBeUndefined();
});

test("an object without notes stays", async () => {
  await start();
  await note({});
  expect(found()).toBeDefined();
});
