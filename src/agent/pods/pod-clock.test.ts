import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { status } from "../../api/status.ts";
import { RuntimeError } from "../runtime/runtime.ts";
import { container, PodFixture } from "./testing.ts";

const hourMs = 3_600_000;
let node: PodFixture;

beforeEach(async () => {
  node = new PodFixture();
  await node.open();
});

afterEach(() => {
  expect(node.errors).toEqual([]);
  node[Symbol.dispose]();
});

const containerOf = (name: string) => node.status(name).containerStatuses?.[0];

/** Sets the system's time. The pod changes at that moment, so that the agent looks at everything again. */
async function setTime(ms: number): Promise<void> {
  node.clock.set(ms);
  await node.change("p", (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { at: `${node.clock.nowMs()}` } },
  }));
}

describe.each([
  ["back", -hourMs],
  ["forward", hourMs],
])("the system's time is set %s by an hour", (_, shiftMs) => {
  test("and probes keep their interval", async () => {
    let probes = 0;
    node.runtime.scripts.set("web", { probe: () => ++probes > 0 });
    const livenessProbe = { tcpSocket: { port: 1 }, periodSeconds: 10 };
    await node.create("p", { containers: [container("web", { livenessProbe })] });
    await node.pass(1);
    expect(probes).toBe(1);
    await setTime(shiftMs);
    await node.pass(8);
    expect(probes).toBe(1);
    await node.pass(10);
    expect(probes).toBe(2);
  });

  test("and the first probe keeps its delay", async () => {
    let probes = 0;
    node.runtime.scripts.set("web", { probe: () => ++probes > 0 });
    const livenessProbe = { tcpSocket: { port: 1 }, initialDelaySeconds: 30 };
    await node.create("p", { containers: [container("web", { livenessProbe })] });
    await node.pass(10);
    await setTime(shiftMs);
    await node.pass(19);
    expect(probes).toBe(0);
    await node.pass(2);
    expect(probes).toBe(1);
  });

  test("and a failed pull is tried again when its delay is over", async () => {
    node.runtime.pullErrors.set("nginx:1", new RuntimeError("ErrImagePull", "no such host"));
    await node.create("p");
    await node.pass(1);
    await setTime(shiftMs);
    await node.pass(2);
    expect(containerOf("p")?.state?.waiting?.reason).toBe("ImagePullBackOff");
    await setTime(shiftMs);
    node.runtime.pullErrors.clear();
    await node.pass(6);
    expect(node.status("p").phase).toBe("Pending");
    await node.pass(2);
    expect(node.status("p").phase).toBe("Running");
  });

  test("and a container restarts when its delay is over", async () => {
    await node.create("p");
    for (const _exit of [1, 2]) {
      node.runtime.exit("uid-p", "web", 1);
      await node.settle();
    }
    expect(containerOf("p")?.state?.waiting?.reason).toBe("CrashLoopBackOff");
    await setTime(shiftMs);
    await node.pass(9);
    expect(containerOf("p")?.restartCount).toBe(1);
    await node.pass(2);
    expect(containerOf("p")?.restartCount).toBe(2);
    // The delay doubles as if nothing had happened.
    node.runtime.exit("uid-p", "web", 1);
    await node.settle();
    expect(containerOf("p")?.state?.waiting?.message).toStartWith("back-off 20s ");
  });

  test("and a container that could not be made is made when its delay is over", async () => {
    node.runtime.scripts.set("web", { createError: new RuntimeError("CreateContainerError", "no space") });
    await node.create("p");
    node.runtime.scripts.clear();
    await setTime(shiftMs);
    await node.pass(9);
    expect(node.status("p").phase).toBe("Pending");
    await node.pass(2);
    expect(node.status("p").phase).toBe("Running");
  });

  test("and a pod without a sandbox gets one when the delay is over", async () => {
    node.runtime.sandboxError = new RuntimeError("CreatePodSandboxError", "no address is left");
    await node.create("p");
    await node.pass(60);
    const failures = node.reasons().length;
    await setTime(shiftMs);
    await node.pass(60);
    expect(node.reasons()).toHaveLength(failures + 1);
    node.runtime.sandboxError = undefined;
    await node.pass(60);
    expect(node.status("p").phase).toBe("Running");
  });

  test("and a status that the API server did not take is written again when the delay is over", async () => {
    node.failure = status.internal("no quorum");
    await node.create("p");
    await node.pass(60);
    const { requests } = node;
    node.clock.set(shiftMs);
    await node.pass(9);
    expect(node.requests - requests).toBeLessThan(2);
    node.failure = undefined;
    await node.pass(10);
    expect(node.status("p").phase).toBe("Running");
  });

  test("and files are brought up to date a minute after the last time", async () => {
    await node.create("p");
    await node.pass(30);
    node.files.prepared.clear();
    await setTime(shiftMs);
    await node.pass(29);
    expect(node.files.prepared.size).toBe(0);
    await node.pass(2);
    expect(node.files.prepared.size).toBe(1);
  });
});

test("a sandbox that replaces another after the system's time was set back is the pod's", async () => {
  await node.create("p");
  node.clock.set(-hourMs);
  node.runtime.loseSandbox("uid-p");
  await node.pass(5);
  expect(node.runtime.log.slice(-3)).toEqual(["stop sandbox p", "run p", "start web#1"]);
  expect(node.status("p").phase).toBe("Running");
});

test("an agent that starts after the system's time was set back probes containers that seem to start later", async () => {
  let probes = 0;
  node.runtime.scripts.set("web", { probe: () => ++probes > 0 });
  const livenessProbe = { tcpSocket: { port: 1 }, initialDelaySeconds: 30, periodSeconds: 10 };
  await node.create("p", { containers: [container("web", { livenessProbe })] });
  await node.pass(31);
  expect(probes).toBe(1);
  node.clock.set(-hourMs);
  await node.open();
  await node.pass(31);
  expect(probes).toBe(2);
});

describe("the deadline of a pod follows the system's time", () => {
  test("that is set forward", async () => {
    await node.create("p", { activeDeadlineSeconds: 3_600 });
    await node.pass(1);
    node.clock.set(hourMs);
    await node.pass(61);
    expect(node.status("p")).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  });

  test("that is set back", async () => {
    await node.create("p", { activeDeadlineSeconds: 100 });
    await node.pass(50);
    node.clock.set(-100_000);
    await node.pass(140);
    expect(node.status("p").phase).toBe("Running");
    await node.pass(11);
    expect(node.status("p")).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  });
});
