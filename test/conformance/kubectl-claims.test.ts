import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer({});
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

async function createPod(name: string, volume: object): Promise<void> {
  const containers = [{ name: "c", image: "i" }];
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { nodeName: "a", containers, volumes: [volume] },
  };
  await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(pod) });
}

test("a pod gets the claim of its ephemeral volume, which goes with the pod", async () => {
  await createPod("p", { name: "scratch", ephemeral: { volumeClaimTemplate: { spec } } });
  const controlled = "--for=jsonpath={.metadata.ownerReferences[?(@.controller==true)].name}=p";
  await kubectl.ok(["wait", "pvc", "p-scratch", "--for=create", "--timeout=10s"]);
  await kubectl.ok(["wait", "pvc", "p-scratch", controlled, "--timeout=10s"]);
  await kubectl.ok(["delete", "pod", "p", "--grace-period=0", "--force"]);
  await kubectl.ok(["wait", "pvc", "p-scratch", "--for=delete", "--timeout=10s"]);
}, 60_000);

test("a claim that was not made for the pod is not used, and kubectl tells why", async () => {
  await kubectl.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "q-scratch" }, spec });
  await createPod("q", { name: "scratch", ephemeral: { volumeClaimTemplate: { spec } } });
  const message = "PVC default/q-scratch was not created for pod default/q (pod is not owner)";
  for (let polls = 0; polls < 50; polls++) {
    if ((await kubectl.ok(["events", "--for", "pod/q"])).includes(message)) return;
  }
  expect(await kubectl.ok(["events", "--for", "pod/q"])).toContain(message);
}, 60_000);

test("a claim in use is deleted with the last pod that uses it", async () => {
  await kubectl.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "used" }, spec });
  await createPod("user", { name: "v", persistentVolumeClaim: { claimName: "used" } });
  await kubectl.ok(["delete", "pvc", "used", "--wait=false"]);
  expect(await kubectl.ok(["describe", "pvc", "used"])).toMatch(/Status: +Terminating[^]*Used By: +user/);
  await kubectl.ok(["delete", "pod", "user", "--grace-period=0", "--force"]);
  await kubectl.ok(["wait", "pvc", "used", "--for=delete", "--timeout=10s"]);
}, 60_000);
