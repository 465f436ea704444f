import { beforeEach, describe, expect, test } from "bun:test";
import type { Pod } from "../../api/types/core-v1.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { parseEvictionThresholds } from "../node/eviction-thresholds.ts";
import { FakeMachine } from "../node/testing.ts";
import type { KnownPod } from "../pods/pod-directory.ts";
import type { Eviction } from "../pods/pod-status.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { evictionLimits } from "./eviction-limits.ts";
import { EvictionManager, type EvictionParts } from "./eviction-manager.ts";
import { NodePressure } from "./node-pressure.ts";
import { mebibyte, podOf } from "./testing.ts";

let clock: ManualClock;
let machine: FakeMachine;
/** The pods that run, and the memory that each uses. */
let running: Map<Pod, number>;
/** Runs before the next measurement of pods. */
let beforeStats: (() => Promise<unknown>) | undefined;
let evicted: [name: string, Eviction][];
let said: string[];
let problems: unknown[];
let changes: number;
/** The pressure of the node of the manager that was opened last. */
let pressure: NodePressure;

beforeEach(() => {
  clock = new ManualClock();
  machine = new FakeMachine();
  running = new Map();
  beforeStats = undefined;
  [evicted, said, problems, changes] = [[], [], [], 0];
});

function open(parts: Partial<EvictionParts> = {}, limits = { hard: "memory.available<1Gi" }): EvictionManager {
  const podsByUid = () => [...running.keys()];
  const settings = parts.settings ?? {
    limits: evictionLimits({ hard: parseEvictionThresholds(limits.hard) }),
    transitionMs: 300_000,
    podGraceSecondsMax: 60,
  };
  pressure = new NodePressure(settings);
  return new EvictionManager({
    settings,
    pressure,
    machine,
    runtime: {
      stats: async () => {
        const before = beforeStats;
        beforeStats = undefined;
        await before?.();
        return [...running].map(([{ metadata }, bytes]) => ({
          containerId: `${metadata.name}#0`,
          timeMs: 0,
          cpuNanoseconds: 0,
          memoryBytes: bytes,
          workingSetBytes: bytes,
        }));
      },
    },
    pods: {
      activePods: podsByUid,
      find: (_, name) => knownPod(podsByUid().find(({ metadata }) => metadata.name === name)),
      evict: (uid, eviction) => evicted.push([uid, eviction]),
    },
    files: {},
    logDirectory: "/nonexistent",
    clock,
    warn: (reason, message) => said.push(`node ${reason}: ${message}`),
    record: ({ metadata }, { reason, message }) => said.push(`${metadata.name} ${reason}: ${message}`),
    changed: () => changes++,
    onError: (error) => problems.push(error),
    ...parts,
  });
}

function knownPod(pod: Pod | undefined): KnownPod | undefined {
  if (pod === undefined) return undefined;
  const { name = "", uid = "" } = pod.metadata;
  const state = { kind: "running", startedAtMs: 0 } as const;
  const run = { id: `${name}#0`, sandboxId: uid, name: "main", attempt: 0, image: "i", imageRef: "i", state };
  return { pod, runtime: {} as Runtime, sandbox: undefined, containers: [run], probes: [] };
}

const gibibyte = 1024 * mebibyte;
const leave = (available: number) => {
  machine.used = { "memory.available": { available, capacity: 8 * gibibyte } };
};

describe("a shortage of memory", () => {
  test("ends one pod at a time, the one that uses most, and the next when that has ended", async () => {
    const [small, large] = [podOf("small"), podOf("large")];
    running.set(small, mebibyte).set(large, 2 * mebibyte);
    const manager = open();
    expect(await manager.check()).toBe(10_000);
    leave(512 * mebibyte);
    expect(await manager.check()).toBe(1_000);
    const message =
      "The node was low on resource: memory. Threshold quantity: 1Gi, available: 512Mi. " +
      "Container main was using 2Mi, request is 0, has larger consumption of memory. ";
    expect(evicted).toEqual([["uid-large", { message, graceSeconds: 1, isDisruption: true }]]);
    expect(said).toEqual(["node EvictionThresholdMet: Attempting to reclaim memory", `large Evicted: ${message}`]);
    expect([[...pressure.pressures], changes]).toEqual([["MemoryPressure"], 1]);
    expect(await manager.check()).toBe(1_000);
    expect(evicted).toHaveLength(1);
    running.delete(large);
    await manager.check();
    expect(evicted.map(([uid]) => uid)).toEqual(["uid-large", "uid-small"]);
    const samples = [{ labels: { eviction_signal: "memory.available" }, value: 2 }];
    expect(manager.metrics()).toMatchObject([{ name: "kubelet_evictions", samples }]);
    expect(problems).toEqual([]);
  });

  test("waits half a minute for the end of a pod with a short grace period", async () => {
    running.set(podOf("stuck"), mebibyte);
    leave(0);
    const manager = open();
    await manager.check();
    clock.advance(29_000);
    await manager.check();
    expect(evicted).toHaveLength(1);
    clock.advance(1_000);
    await manager.check();
    expect(evicted).toHaveLength(2);
  });

  test("spares critical and static pods", async () => {
    const fromFile = podOf("static");
    fromFile.metadata.annotations = { "kubernetes.io/config.source": "file" };
    running.set(podOf("critical", {}, { priority: 2_000_000_000 }), 9 * mebibyte).set(fromFile, 8 * mebibyte);
    leave(0);
    const manager = open();
    expect(await manager.check()).toBe(10_000);
    running.set(podOf("other"), mebibyte);
    await manager.check();
    expect(evicted.map(([uid]) => uid)).toEqual(["uid-other"]);
  });
});

test("a soft limit leaves a pod its grace period, up to the largest one", async () => {
  const soft = parseEvictionThresholds("memory.available<1Gi");
  const graceMs = new Map([["memory.available", 30_000]] as const);
  const limits = evictionLimits({ hard: new Map(), soft, graceMs });
  const manager = open({ settings: { limits, transitionMs: 300_000, podGraceSecondsMax: 60 } });
  running.set(podOf("p", {}, { terminationGracePeriodSeconds: 90n }), mebibyte);
  leave(0);
  await manager.check();
  expect([evicted, [...pressure.pressures]]).toEqual([[], ["MemoryPressure"]]);
  clock.advance(30_000);
  await manager.check();
  expect(evicted.map(([, { graceSeconds }]) => graceSeconds)).toEqual([60]);
});

test("a pod with a long grace period gets half as much again to end before the next eviction", async () => {
  const soft = parseEvictionThresholds("memory.available<1Gi");
  const limits = evictionLimits({ hard: new Map(), soft, graceMs: new Map([["memory.available", 1]] as const) });
  const manager = open({ settings: { limits, transitionMs: 300_000, podGraceSecondsMax: 120 } });
  running.set(podOf("p", {}, { terminationGracePeriodSeconds: 120n }), mebibyte);
  leave(0);
  await manager.check();
  clock.advance(1);
  await manager.check();
  clock.advance(179_000);
  await manager.check();
  expect(evicted).toHaveLength(1);
  clock.advance(1_000);
  await manager.check();
  expect(evicted).toHaveLength(2);
});

test("a shortage of disk space is met with what nobody needs first", async () => {
  running.set(podOf("p"), mebibyte);
  machine.used = { "nodefs.available": { available: 1, capacity: 100 } };
  const freed = { "nodefs.available": { available: 50, capacity: 100 } };
  let frees = true;
  const reclaimDisk = async () => {
    if (frees) machine.used = freed;
  };
  const manager = open({ reclaimDisk }, { hard: "nodefs.available<10%" });
  await manager.check();
  expect([evicted, said]).toEqual([[], ["node EvictionThresholdMet: Attempting to reclaim ephemeral-storage"]]);
  frees = false;
  machine.used = { "nodefs.available": { available: 1, capacity: 100 } };
  await manager.check();
  expect(evicted[0]?.[1].message).toStartWith(
    "The node was low on resource: ephemeral-storage. Threshold quantity: 10",
  );
});

describe("limits of storage", () => {
  const volumes = [{ name: "cache", emptyDir: { sizeLimit: "0.001" } }];
  const files = { localVolumesOf: () => [["cache", import.meta.dir]] as const };

  test("evict a pod that exceeds them without a shortage", async () => {
    running.set(podOf("p", {}, { volumes }), mebibyte);
    const manager = open({ files });
    expect(await manager.check()).toBe(10_000);
    expect(evicted).toEqual([]);
    expect(await manager.checkStorageLimits()).toBe(60_000);
    const message = 'Usage of EmptyDir volume "cache" exceeds the limit "0.001". ';
    expect(evicted).toEqual([["uid-p", { message, graceSeconds: 1, isDisruption: false }]]);
    await manager.checkStorageLimits();
    expect(evicted).toHaveLength(1);
  });

  test("do not delay the end of a shortage, nor end its pod again", async () => {
    running.set(podOf("p", {}, { volumes }), mebibyte);
    leave(0);
    const manager = open({ files });
    const { promise, resolve } = Promise.withResolvers<void>();
    beforeStats = () => promise;
    const limited = manager.checkStorageLimits();
    expect(await manager.check()).toBe(1_000);
    expect(evicted.map(([, { isDisruption }]) => isDisruption)).toEqual([true]);
    resolve();
    await limited;
    expect(evicted).toHaveLength(1);
  });

  test("count as a reaction to a shortage that is being looked at", async () => {
    running.set(podOf("p", {}, { volumes }), mebibyte).set(podOf("other"), mebibyte);
    leave(0);
    const manager = open({ files });
    beforeStats = () => manager.checkStorageLimits();
    expect(await manager.check()).toBe(1_000);
    expect(evicted.map(([uid]) => uid)).toEqual(["uid-p"]);
  });

  test("are tried again after a failure", async () => {
    running.set(podOf("p", {}, { volumes }), mebibyte);
    beforeStats = () => Promise.reject(new Error("no measurement"));
    expect(await open({ files }).checkStorageLimits()).toBe(60_000);
    expect(problems).toEqual([new Error("no measurement")]);
  });
});

test("a machine that cannot be measured is tried again", async () => {
  machine.usage = () => Promise.reject(new Error("no measurement"));
  expect(await open().check()).toBe(10_000);
  expect(problems).toEqual([new Error("no measurement")]);
});
