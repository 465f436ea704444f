import { beforeEach, describe, expect, test } from "bun:test";
import { status } from "../../api/status.ts";
import type { Node, Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { MirrorPods } from "./mirror-pods.ts";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

let clock: ManualClock;
let asked: string[] = [];
let created: Pod[] = [];
let errors: unknown[] = [];
let failure: Error | undefined;
let node: Node | undefined;

beforeEach(() => {
  clock = new ManualClock();
  [asked, created, errors, failure] = [[], [], [], undefined];
  node = { metadata: { name: "n1", uid: "node-uid" } } as Node;
});

const client = {
  async create(_type: unknown, pod: Pod) {
    asked.push(`create ${pod.metadata.name}`);
    if (failure !== undefined) throw failure;
    created.push(pod);
    return pod;
  },
  async delete(_type: unknown, { name }: { name: string }, options: object) {
    asked.push(`delete ${name} ${JSON.stringify(options)}`);
    if (failure !== undefined) throw failure;
  },
} as unknown as Pick<Client, "create" | "delete">;

function open(): MirrorPods {
  return new MirrorPods({ client, clock, node: () => node, onError: (error) => errors.push(error) });
}

function staticPod(hash: string): Pod {
  const annotations = { "kubernetes.io/config.hash": hash, "kubernetes.io/config.source": "file" };
  const metadata = { name: "web-n1", namespace: "default", uid: hash, annotations };
  return { kind: "Pod", apiVersion: "v1", metadata, spec: { containers: null, nodeName: "n1" } };
}

function mirror(hash: string, uid: string, changes: object = {}): Pod {
  const pod = staticPod(hash);
  const annotations = { ...pod.metadata.annotations, "kubernetes.io/config.mirror": hash };
  return { ...pod, metadata: { ...pod.metadata, uid, annotations, ...changes } };
}

const deletion = (uid: string) => `delete web-n1 {"gracePeriodSeconds":0,"preconditions":{"uid":"${uid}"}}`;

test("a static pod gets a mirror that the node owns", async () => {
  using mirrors = open();
  mirrors.ready();
  mirrors.podChanged(staticPod("h1"));
  await settle();
  expect(created[0]?.metadata).toEqual({
    name: "web-n1",
    namespace: "default",
    annotations: {
      "kubernetes.io/config.hash": "h1",
      "kubernetes.io/config.source": "file",
      "kubernetes.io/config.mirror": "h1",
    },
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "node-uid", controller: true }],
  });
  expect(created[0]?.spec?.nodeName).toBe("n1");
  expect(created[0]).not.toHaveProperty("status");
});

test("nothing happens before everything is known", async () => {
  using mirrors = open();
  mirrors.mirrorChanged(mirror("h1", "u1"), mirror("h1", "u1"));
  clock.advance(60_000);
  mirrors.podChanged(staticPod("h1"));
  mirrors.ready();
  await settle();
  expect(asked).toEqual([]);
});

describe("a mirror is replaced", () => {
  test.each([
    ["when its pod has changed", mirror("h0", "u0")],
    ["when somebody deletes it", mirror("h1", "u0", { deletionTimestamp: "2026-03-01T10:00:00Z" })],
  ])("%s", async (_name, old) => {
    using mirrors = open();
    mirrors.podChanged(staticPod("h1"));
    mirrors.mirrorChanged(old, old);
    mirrors.ready();
    await settle();
    expect(asked).toEqual([deletion("u0")]);
    mirrors.mirrorChanged(old, undefined);
    await settle();
    expect(asked).toEqual([deletion("u0"), "create web-n1"]);
    mirrors.mirrorChanged(mirror("h1", "u1"), mirror("h1", "u1"));
    clock.advance(60_000);
    await settle();
    expect(asked).toHaveLength(2);
  });

  test("also when it is gone before the answer arrives", async () => {
    using mirrors = open();
    const old = mirror("h0", "u0");
    mirrors.podChanged(staticPod("h1"));
    mirrors.mirrorChanged(old, old);
    mirrors.ready();
    mirrors.mirrorChanged(old, undefined);
    await settle();
    expect(asked).toEqual([deletion("u0"), "create web-n1"]);
  });
});

test("a mirror without a static pod is removed", async () => {
  using mirrors = open();
  mirrors.mirrorChanged(mirror("h1", "u1"), mirror("h1", "u1"));
  mirrors.ready();
  await settle();
  expect(asked).toEqual([deletion("u1")]);
});

test("a pod whose file is gone loses its mirror", async () => {
  using mirrors = open();
  mirrors.ready();
  mirrors.podChanged(staticPod("h1"));
  await settle();
  mirrors.mirrorChanged(mirror("h1", "u1"), mirror("h1", "u1"));
  mirrors.podGone(staticPod("h0"));
  await settle();
  expect(asked).toEqual(["create web-n1"]);
  mirrors.podGone(staticPod("h1"));
  await settle();
  expect(asked).toEqual(["create web-n1", deletion("u1")]);
});

test("failures are repeated, and expected ones are not reported", async () => {
  using mirrors = open();
  mirrors.ready();
  node = undefined;
  mirrors.podChanged(staticPod("h1"));
  await settle();
  expect(asked).toEqual([]);
  node = { metadata: { name: "n1", uid: "node-uid" } } as Node;
  failure = new Error("connection refused");
  clock.advance(10_000);
  await settle();
  expect(errors).toEqual([failure]);
  failure = status.alreadyExists({ group: "", resource: "pods", name: "web-n1" });
  clock.advance(10_000);
  await settle();
  expect(errors).toHaveLength(1);
  expect(asked).toEqual(["create web-n1", "create web-n1"]);
});
