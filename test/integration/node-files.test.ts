import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MirrorPods } from "../../src/agent/files/mirror-pods.ts";
import { NodeFiles } from "../../src/agent/files/node-files.ts";
import { StaticPods } from "../../src/agent/files/static-pods.ts";
import { followPods } from "../../src/agent/pods/follow-pods.ts";
import { PodManager } from "../../src/agent/pods/pod-manager.ts";
import { Schedule } from "../../src/agent/pods/schedule.ts";
import { StatusWriter } from "../../src/agent/pods/status-writer.ts";
import { ProcessRuntime } from "../../src/agent/runtime/process/process-runtime.ts";
import type { Node } from "../../src/api/types/core-v1.ts";
import type { Client } from "../../src/client/client.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { readKubeconfig } from "../../src/client/kubeconfig.ts";
import type { Occurrence } from "../../src/controllers/events/event-correlator.ts";
import { systemClock as clock } from "../../src/process/clock.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

/** Pods as processes of this machine, with files from a real server that treats the agent as a node. */

const directory = mkdtempSync(join(tmpdir(), "node-files-"));
const manifests = join(directory, "manifests");
const nodeToken = "node-token";
const errors: string[] = [];
const events: Occurrence[] = [];
const onError = (error: unknown) => void errors.push(String(error));

let server: TestServer;
let client: Client;
let namespace = "";
const parts = new AsyncDisposableStack();

beforeAll(async () => {
  mkdirSync(manifests);
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(tokenAuthFile, `${nodeToken},system:node:n1,1,"system:nodes"\n`);
  server = parts.use(
    await TestServer.start({ tokenAuthFile, controllers: "*,-node-lifecycle-controller,-taint-eviction-controller" }),
  );
  namespace = await server.namespace();
  client = parts.use(nodeClient());
  const node = await client.create<Node>(
    { group: "", version: "v1", resource: "nodes" },
    { kind: "Node", apiVersion: "v1", metadata: { name: "n1" } },
  );
  await server.patch("/api/v1/nodes/n1/status", "application/merge-patch+json", {
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110" } },
  });
  await runNode(node);
  await until(async () => (await server.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).code === 200);
});

afterAll(async () => {
  await parts.disposeAsync();
  rmSync(directory, { recursive: true, force: true });
});

function nodeClient(): Client {
  const cluster = {
    server: server.running.url,
    "certificate-authority-data": Buffer.from(server.running.ca).toString("base64"),
  };
  const kubeconfig = {
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: { token: nodeToken } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  const file = join(directory, "kubeconfig");
  writeFileSync(file, JSON.stringify(kubeconfig));
  return httpClient(readKubeconfig(file));
}

/** Opens the parts of an agent that run pods. */
async function runNode(registered: Node): Promise<void> {
  const node = () => ({ ...registered, status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110" } } }) as Node;
  const hostIps = () => ["192.0.2.1"];
  const common = { client, clock, random: Math.random, node, hostIps, onError };
  const folders = { folder: join(directory, "containers"), logDirectory: join(directory, "logs") };
  const runtime = parts.use(await ProcessRuntime.open({ ...folders, clock }));
  // Runs when nothing starts containers any more.
  parts.defer(async () => {
    for (const { id } of await runtime.sandboxes()) await runtime.removeSandbox(id);
  });
  const files = parts.use(await NodeFiles.open({ ...common, rootDirectory: join(directory, "root") }));
  const mirrors = parts.use(new MirrorPods(common));
  const pods = parts.use(
    await PodManager.open({
      ...common,
      schedule: parts.use(new Schedule(clock)),
      writer: new StatusWriter(client),
      recorder: { record: (event) => void events.push(event) },
      nodeName: "n1",
      runtime,
      files,
      logDirectory: join(directory, "logs"),
      mirrors,
    }),
  );
  const sinks = [pods, mirrors];
  parts.use(await StaticPods.open({ path: manifests, nodeName: "n1", clock, sinks, onError }));
  const followed = parts.use(followPods({ ...common, nodeName: "n1", managerOf: () => pods }));
  void followed.synced.then(() => mirrors.ready());
}

const pathOf = (resource: string, name = "") => `/api/v1/namespaces/${namespace}/${resource}${name && `/${name}`}`;

async function podOf(name: string, isExpected: (pod: any) => boolean, space = namespace): Promise<any> {
  const read = async () => (await server.get(`/api/v1/namespaces/${space}/pods/${name}`)).json;
  return await until(read, isExpected);
}

function logOf({ metadata }: any): string {
  const folder = join(directory, "logs", `${metadata.namespace}_${metadata.name}_${metadata.uid}`, "main");
  return readFileSync(join(folder, "0.log"), "utf8");
}

describe("a pod", () => {
  test("gets its variables, its volumes and a token that is bound to it", async () => {
    await server.create(pathOf("configmaps"), {
      metadata: { name: "config" },
      data: { color: "blue", "app.conf": "x=1" },
    });
    await server.create(pathOf("secrets"), { metadata: { name: "keys" }, stringData: { password: "hidden-value" } });
    const script = [
      'echo "color=$COLOR pod=$POD cpu=$CPU host=$KUBERNETES_SERVICE_HOST"',
      '[ "$PASSWORD" = hidden-value ] && echo password-is-right',
      "sleep 1000",
    ].join("; ");
    await server.create(pathOf("pods"), {
      metadata: { name: "web" },
      spec: {
        nodeName: "n1",
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: "main",
            image: "none",
            command: ["/bin/sh", "-c", script],
            env: [
              { name: "COLOR", valueFrom: { configMapKeyRef: { name: "config", key: "color" } } },
              { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "keys", key: "password" } } },
              { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
            ],
          },
        ],
      },
    });
    const pod = await podOf("web", ({ status }) => status?.phase === "Running");
    const log = await until(
      () => logOf(pod),
      (text) => text.includes("password-is-right"),
    );
    expect(log).toMatch(/color=blue pod=web cpu=4 host=\d+\.\d+\.\d+\.\d+/);
    const access = pod.spec.volumes.find(({ projected }: any) => projected !== undefined).name;
    const volume = join(directory, "root/pods", pod.metadata.uid, "volumes/kubernetes.io~projected", access);
    expect(readFileSync(join(volume, "namespace"), "utf8")).toBe(namespace);
    const token = readFileSync(join(volume, "token"), "utf8");
    const review = await server.create("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token } });
    expect(review.status.user).toMatchObject({
      username: `system:serviceaccount:${namespace}:default`,
      extra: {
        "authentication.kubernetes.io/pod-name": ["web"],
        "authentication.kubernetes.io/pod-uid": [pod.metadata.uid],
        "authentication.kubernetes.io/node-name": ["n1"],
      },
    });
    expect(errors.join()).not.toContain("hidden-value");
    expect(errors.join()).not.toContain(token);
  });

  test("waits for an object that is absent, and starts when it is there", async () => {
    const env = [{ name: "X", valueFrom: { configMapKeyRef: { name: "later", key: "x" } } }];
    const main = { name: "main", image: "none", command: ["/bin/sh", "-c", 'echo "x=$X"'], env };
    const spec = { nodeName: "n1", restartPolicy: "Never", containers: [main] };
    await server.create(pathOf("pods"), { metadata: { name: "waiting" }, spec });
    const waiting = await podOf(
      "waiting",
      ({ status }) => status?.containerStatuses?.[0]?.state.waiting?.message !== undefined,
    );
    expect(waiting.status.containerStatuses[0].state.waiting).toMatchObject({
      reason: "CreateContainerConfigError",
      message: 'configmap "later" not found',
    });
    await server.create(pathOf("configmaps"), { metadata: { name: "later" }, data: { x: "1" } });
    expect(logOf(await podOf("waiting", ({ status }) => status?.phase === "Succeeded"))).toContain("x=1");
  });

  test("keeps its files in a persistent volume of the machine, when its claim is bound", async () => {
    const data = join(directory, "data");
    mkdirSync(data);
    const volume = { metadata: { name: "pv" }, spec: { hostPath: { path: data }, accessModes: ["ReadWriteOnce"] } };
    const claimRef = { kind: "PersistentVolumeClaim", namespace, name: "claim" };
    const resources = { requests: { storage: "1Gi" } };
    const claim = await server.create(pathOf("persistentvolumeclaims"), {
      metadata: { name: "claim" },
      spec: { accessModes: ["ReadWriteOnce"], resources, volumeName: "pv", storageClassName: "" },
    });
    await server.create("/api/v1/persistentvolumes", {
      ...volume,
      spec: { ...volume.spec, capacity: { storage: "1Gi" }, claimRef: { ...claimRef, uid: claim.metadata.uid } },
    });
    await server.create(pathOf("pods"), {
      metadata: { name: "keeper" },
      spec: {
        nodeName: "n1",
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "claim" } }],
        containers: [
          {
            name: "main",
            image: "none",
            command: ["/bin/sh", "-c", "echo kept > data/file || echo kept > /data/file; sleep 1000"],
            volumeMounts: [{ name: "data", mountPath: "/data" }],
          },
        ],
      },
    });
    const isUnbound = (text: string) => text.includes(`error processing PVC ${namespace}/claim: PVC is not bound`);
    await until(() => events.map(({ message }) => message).join("\n"), isUnbound);
    await server.patch(`${pathOf("persistentvolumeclaims", "claim")}/status`, "application/merge-patch+json", {
      status: { phase: "Bound" },
    });
    await podOf("keeper", ({ status }) => status?.phase === "Running");
    await until(() => existsSync(join(data, "file")) && readFileSync(join(data, "file"), "utf8") === "kept\n");
  });

  test("loses its files when it is deleted", async () => {
    const main = { name: "main", image: "none", command: ["sleep", "1000"] };
    const spec = { nodeName: "n1", terminationGracePeriodSeconds: 1, containers: [main] };
    await server.create(pathOf("pods"), { metadata: { name: "long" }, spec });
    const pod = await podOf("long", ({ status }) => status?.phase === "Running");
    const folder = join(directory, "root/pods", pod.metadata.uid);
    expect(existsSync(folder)).toBe(true);
    await server.delete(pathOf("pods", "long"));
    await until(async () => (await server.get(pathOf("pods", "long"))).code === 404);
    await until(() => !existsSync(folder));
  });
});

test("the node can only watch the objects that its pods use", async () => {
  await server.create(pathOf("secrets"), { metadata: { name: "unused" }, stringData: { a: "b" } });
  const asNode = { token: nodeToken };
  const field = "?fieldSelector=metadata.name%3D";
  expect((await server.get(`${pathOf("secrets")}${field}keys`, asNode)).code).toBe(200);
  expect((await server.get(`${pathOf("secrets")}${field}unused`, asNode)).code).toBe(403);
  expect((await server.get(pathOf("secrets"), asNode)).code).toBe(403);
});

describe("a static pod", () => {
  const file = join(manifests, "static.json");
  const manifest = (text: string) => {
    const main = { name: "main", image: "none", command: ["/bin/sh", "-c", `echo ${text}; sleep 1000`] };
    const spec = { terminationGracePeriodSeconds: 1, containers: [main] };
    return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "static" }, spec });
  };
  const mirror = "kubernetes.io/config.mirror";
  const isRunning = ({ status }: any) => status?.phase === "Running";

  test("runs, and has a mirror with its status", async () => {
    writeFileSync(file, manifest("one"));
    const { metadata, status } = await podOf("static-n1", isRunning, "default");
    expect(metadata.annotations[mirror]).toBe(metadata.annotations["kubernetes.io/config.hash"]);
    expect(metadata.ownerReferences).toMatchObject([{ kind: "Node", name: "n1", controller: true }]);
    expect(status.containerStatuses[0].state.running).toBeDefined();
  });

  test("gets another mirror when somebody deletes it, and goes on", async () => {
    const before = await podOf("static-n1", isRunning, "default");
    await server.delete("/api/v1/namespaces/default/pods/static-n1");
    const after = await podOf(
      "static-n1",
      (pod) => isRunning(pod) && pod.metadata.uid !== before.metadata.uid,
      "default",
    );
    expect(after.status.containerStatuses[0].containerID).toBe(before.status.containerStatuses[0].containerID);
  });

  test("is replaced when its file changes", async () => {
    const before = await podOf("static-n1", isRunning, "default");
    writeFileSync(file, manifest("two"));
    const after = await podOf(
      "static-n1",
      (pod) => isRunning(pod) && pod.metadata.annotations[mirror] !== before.metadata.annotations[mirror],
      "default",
    );
    expect(after.status.containerStatuses[0].containerID).not.toBe(before.status.containerStatuses[0].containerID);
  });

  test("ends with its mirror when its file is removed", async () => {
    rmSync(file);
    await until(async () => (await server.get("/api/v1/namespaces/default/pods/static-n1")).code === 404);
  });
});
