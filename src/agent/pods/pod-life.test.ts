import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { status } from "../../api/status.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { RuntimeError } from "../runtime/runtime.ts";
import { PodFilesError } from "./pod-files.ts";
import { container, PodFixture } from "./testing.ts";

let node: PodFixture;

beforeEach(async () => {
  node = new PodFixture();
  await node.open();
});

afterEach(() => {
  expect(node.errors).toEqual([]);
  node[Symbol.dispose]();
});

const containerOf = (name: string, at = 0) => node.status(name).containerStatuses?.[at];
const messages = (reason: string) => node.events.filter((one) => one.reason === reason).map(({ message }) => message);

describe("images", () => {
  test("a failed pull is tried again, later and later", async () => {
    node.runtime.pullErrors.set("nginx:1", new RuntimeError("ErrImagePull", "no such host"));
    await node.create("p");
    expect(containerOf("p")?.state?.waiting).toEqual({ reason: "ErrImagePull", message: "no such host" });
    await node.pass(3);
    const waiting = {
      reason: "ImagePullBackOff",
      message: 'Back-off pulling image "nginx:1": ErrImagePull: no such host',
    };
    expect(containerOf("p")?.state?.waiting).toEqual(waiting);
    node.runtime.pullErrors.clear();
    await node.pass(9);
    expect(node.status("p").phase).toBe("Running");
    expect(node.reasons()).toEqual([
      "Pulling",
      "Failed",
      "Failed",
      "BackOff",
      "Failed",
      "Pulling",
      "Pulled",
      "Created",
      "Started",
    ]);
    expect(messages("Failed")).toEqual([
      'Failed to pull image "nginx:1": no such host',
      "Error: ErrImagePull",
      "Error: ImagePullBackOff",
    ]);
  });

  test("an image that is there is not pulled unless the policy says so", async () => {
    node.runtime.present.set("nginx:1", "nginx@sha256:1");
    await node.create("p", { containers: [container("a"), container("b", { imagePullPolicy: "Always" })] });
    expect(node.runtime.log).toEqual(["run p", "start a#0", "pull nginx:1", "start b#0"]);
    expect(messages("Pulled")[0]).toBe(
      'Container image "nginx:1" already present on machine and can be accessed by the pod',
    );
    expect(messages("Pulled")[1]).toMatch(
      /^Successfully pulled image "nginx:1" in 0s \(0s including waiting\)\. Image size: 1000 bytes\.$/,
    );
  });

  test("an image that may not be pulled has to be there", async () => {
    await node.create("p", { containers: [container("web", { imagePullPolicy: "Never" })] });
    expect(containerOf("p")?.state?.waiting).toEqual({
      reason: "ErrImageNeverPull",
      message: 'Container image "nginx:1" is not present with pull policy of Never',
    });
  });

  test("a malformed name is not tried", async () => {
    await node.create("p", { containers: [container("web", { image: "Nginx:1" })] });
    expect(containerOf("p")?.state?.waiting).toEqual({
      reason: "InvalidImageName",
      message:
        'Failed to apply default image tag "Nginx:1": couldn\'t parse image name "Nginx:1": ' +
        "invalid reference format: repository name (library/Nginx) must be lowercase",
    });
  });
});

describe("a pod cannot start", () => {
  test("while its files cannot be prepared", async () => {
    const message = 'MountVolume.SetUp failed for volume "c" : configmap "c" not found';
    node.files.problem = new PodFilesError("FailedMount", message);
    await node.create("p");
    await node.pass(2);
    expect(containerOf("p")?.state?.waiting?.reason).toBe("ContainerCreating");
    expect(messages("FailedMount")).toContain(message);
    node.files.problem = undefined;
    await node.pass(3);
    expect(node.status("p").phase).toBe("Running");
  });

  test("without a sandbox", async () => {
    node.runtime.sandboxError = new RuntimeError("", "no addresses left");
    await node.create("p");
    expect(messages("FailedCreatePodSandBox")).toEqual(["Failed to create pod sandbox: no addresses left"]);
    node.runtime.sandboxError = undefined;
    await node.pass(2);
    expect(node.status("p").phase).toBe("Running");
  });

  test("without a network, unless it uses that of the host", async () => {
    node.runtime.networkProblem = "container runtime network not ready: no plugin";
    await node.create("p");
    await node.create("q", { hostNetwork: true });
    expect(messages("NetworkNotReady")).toEqual([
      "network is not ready: container runtime network not ready: no plugin",
    ]);
    await node.pass(300);
    expect(containerOf("p")?.state?.waiting).toEqual({ reason: "ContainerCreating" });
    expect([node.status("q").phase, node.runtime.log.includes("run p")]).toEqual(["Running", false]);
    node.runtime.networkProblem = undefined;
    await node.pass(2);
    expect(node.status("p").phase).toBe("Running");
  });

  test("when a container cannot be made or run", async () => {
    node.runtime.scripts.set("a", { createError: new RuntimeError("", "no space") });
    node.runtime.scripts.set("b", { startError: new RuntimeError("", "no such file") });
    await node.create("p", { containers: [container("a"), container("b"), container("c")] });
    expect(containerOf("p", 0)?.state?.waiting).toEqual({ reason: "CreateContainerError", message: "no space" });
    expect(containerOf("p", 1)?.state?.waiting).toEqual({ reason: "RunContainerError", message: "no such file" });
    expect(containerOf("p", 2)?.ready).toBe(true);
    await node.pass(60);
    const left = (await node.runtime.containers()).map(({ name }) => name);
    expect(left.filter((name) => name === "b").length).toBe(2);
    node.runtime.scripts.clear();
    await node.pass(11);
    expect(node.status("p").conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  });

  test("as a user that it must not be", async () => {
    const securityContext = { runAsNonRoot: true, runAsUser: 0 };
    await node.create("p", { containers: [container("web", { securityContext })] });
    expect(containerOf("p")?.state?.waiting).toEqual({
      reason: "CreateContainerConfigError",
      message: `container's runAsUser breaks non-root policy (pod: "p_n(uid-p)", container: web)`,
    });
  });

  test("with a mount that must be read-only together with those below it", async () => {
    const mount = { name: "data", mountPath: "/data", readOnly: true } as const;
    const mounts = (recursiveReadOnly: "Enabled" | "IfPossible") => ({
      volumeMounts: [{ ...mount, recursiveReadOnly }],
    });
    await node.create("p", { containers: [container("web", mounts("Enabled"))] });
    expect(containerOf("p")?.state?.waiting).toEqual({
      reason: "CreateContainerConfigError",
      message: 'volume "data" requested recursive read-only mode, but it is not supported by the runtime',
    });
    await node.create("q", { containers: [container("web", mounts("IfPossible"))] });
    expect(containerOf("q")).toMatchObject({
      state: { running: {} },
      volumeMounts: [{ ...mount, recursiveReadOnly: "Disabled" }],
    });
  });
});

describe("a pod ends", () => {
  test("after its deadline", async () => {
    await node.create("p", { activeDeadlineSeconds: 5 });
    await node.pass(4);
    expect(node.status("p").phase).toBe("Running");
    await node.pass(2);
    const message = "Pod was active on the node longer than the specified deadline";
    expect(node.status("p")).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded", message });
    expect(messages("DeadlineExceeded")).toEqual([message]);
    expect(containerOf("p")?.state?.terminated).toBeDefined();
  });

  test("with its hook first, within the grace period", async () => {
    const lifecycle = { preStop: { sleep: { seconds: 3 } } };
    await node.create("p", { containers: [container("web", { lifecycle })] });
    await node.delete("p", 10);
    expect(node.runtime.log).not.toContain("stop web#0 7");
    await node.pass(4);
    expect(node.runtime.log).toContain("stop web#0 7");
    expect(node.stored.has("p")).toBe(false);
  });

  test("even if its hook does not", async () => {
    const lifecycle = { preStop: { sleep: { seconds: 60 } } };
    await node.create("p", { containers: [container("web", { lifecycle })] });
    await node.delete("p", 5);
    await node.pass(6);
    expect(node.runtime.log).toContain("stop web#0 2");
    expect(node.stored.has("p")).toBe(false);
  });

  test("with its sidecars last, in the opposite order", async () => {
    const always = { restartPolicy: "Always" } as const;
    const spec = { initContainers: [container("s1", always), container("s2", always)] };
    await node.create("p", spec);
    node.runtime.scripts.set("web", { stopMs: 2_000 });
    node.runtime.scripts.set("s2", { stopMs: 1_000 });
    await node.delete("p");
    await node.pass(5);
    const stops = node.runtime.log.filter((line) => line.startsWith("stop ")).map((line) => line.split(" ")[1]);
    expect(stops).toEqual(["web#0", "s2#0", "s1#0", "sandbox"]);
  });

  test("sooner after a second deletion with a shorter grace period", async () => {
    await node.create("p");
    node.runtime.scripts.set("web", { stopMs: 60_000 });
    await node.delete("p", 30);
    await node.pass(2);
    await node.delete("p", 1);
    await node.pass(3);
    expect(node.runtime.log).toContain("stop web#0 2");
    expect(node.stored.has("p")).toBe(false);
    expect(node.patches.at(-1)).toMatchObject({ status: { phase: "Failed" } });
  });

  test("when its object is removed at once", async () => {
    await node.create("p");
    await node.remove("p");
    expect(await node.runtime.sandboxes()).toEqual([]);
    expect(node.manager.pods()).toEqual([]);
  });

  test("although the hook after its start does not", async () => {
    node.runtime.scripts.set("web", { exec: () => new Promise(() => undefined) });
    const lifecycle = { postStart: { exec: { command: ["sleep", "infinity"] } } };
    await node.create("p", { containers: [container("web", { lifecycle })] });
    expect(node.runtime.log.at(-1)).toBe("exec web sleep infinity");
    await node.delete("p");
    expect(node.runtime.log).toContain("stop web#0 30");
    expect(node.stored.has("p")).toBe(false);
    expect(node.reasons()).not.toContain("FailedPostStartHook");
  });

  test("although the pull of its image does not", async () => {
    node.runtime.pullImage = () => new Promise(() => undefined);
    await node.create("p");
    await node.create("waits");
    await node.delete("p");
    await node.remove("waits");
    expect(node.stored.size).toBe(0);
    expect(node.manager.pods()).toEqual([]);
    expect(node.reasons()).not.toContain("Failed");
  });

  test("and the pull of its image ends, which lets that of another pod begin", async () => {
    const pulls: string[] = [];
    node.runtime.pullImage = async (image, _auth, signal) => {
      pulls.push(image);
      await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("canceled"))));
      throw new Error("not reached");
    };
    await node.create("p", { containers: [container("web", { image: "slow:1" })] });
    await node.create("next", { containers: [container("web", { image: "quick:1" })] });
    expect(pulls).toEqual(["slow:1"]);
    await node.delete("p");
    expect(pulls).toEqual(["slow:1", "quick:1"]);
    expect(node.reasons("p")).not.toContain("Failed");
  });

  test("before it has started", async () => {
    node.files.problem = new PodFilesError("FailedMount", "never");
    await node.create("p");
    await node.delete("p");
    expect(node.stored.has("p")).toBe(false);
    expect(node.patches.at(-1)).toMatchObject({ status: { phase: "Failed" } });
  });

  test("and another one of its name starts, also before the first is gone", async () => {
    await node.create("p");
    node.runtime.scripts.set("web", { stopMs: 5_000 });
    await node.remove("p");
    await node.create("p", {}, { uid: "uid-2" });
    expect(node.status("p").phase).toBe("Running");
    await node.pass(6);
    expect((await node.runtime.sandboxes()).map(({ podUid }) => podUid)).toEqual(["uid-2"]);
    expect(node.manager.find("n", "p")?.pod.metadata.uid).toBe("uid-2");
  });
});

describe("probes", () => {
  test("decide whether a pod is ready, and say why it is not", async () => {
    let isReady = false;
    node.runtime.scripts.set("web", { exec: () => (isReady ? 0 : 1) });
    const readinessProbe = { exec: { command: ["check"] }, periodSeconds: 2, timeoutSeconds: 1, failureThreshold: 1 };
    await node.create("p", { containers: [container("web", { readinessProbe })] });
    await node.pass(1);
    expect(containerOf("p")).toMatchObject({ started: true, ready: false });
    expect(messages("Unhealthy")[0]).toBe("Readiness probe failed: output of check");
    isReady = true;
    await node.pass(3);
    expect(containerOf("p")?.ready).toBe(true);
    isReady = false;
    await node.pass(3);
    expect(containerOf("p")).toMatchObject({ ready: false, restartCount: 0 });
  });

  test("restart a container that does not live, after its own grace period", async () => {
    let lives = true;
    node.runtime.scripts.set("web", { probe: (kind) => (kind === "liveness" ? lives : undefined), stopCode: 0 });
    const livenessProbe = {
      tcpSocket: { port: 1 },
      periodSeconds: 1,
      failureThreshold: 2,
      terminationGracePeriodSeconds: 7,
    };
    await node.create("p", { restartPolicy: "OnFailure", containers: [container("web", { livenessProbe })] });
    await node.pass(5);
    expect(containerOf("p")?.restartCount).toBe(0);
    lives = false;
    await node.pass(3);
    lives = true;
    await node.pass(2);
    expect(node.runtime.log).toContain("stop web#0 7");
    expect(messages("Killing")).toEqual(["Container web failed liveness probe, will be restarted"]);
    expect(containerOf("p")).toMatchObject({ restartCount: 1, ready: true });
  });

  test("of the start hold the others back", async () => {
    let started = false;
    const asked: string[] = [];
    node.runtime.scripts.set("web", {
      probe: (kind) => {
        asked.push(kind);
        return kind === "startup" ? started : true;
      },
    });
    const probe = { tcpSocket: { port: 1 }, periodSeconds: 1 };
    const probes = { startupProbe: { ...probe, failureThreshold: 10 }, readinessProbe: probe };
    await node.create("p", { containers: [container("web", probes)] });
    await node.pass(3);
    expect(containerOf("p")).toMatchObject({ started: false, ready: false });
    expect(new Set(asked)).toEqual(new Set(["startup"]));
    started = true;
    await node.pass(3);
    expect(containerOf("p")).toMatchObject({ started: true, ready: true });
  });

  test("keep their results when the agent restarts", async () => {
    node.runtime.scripts.set("web", { probe: () => true });
    const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds: 100 };
    await node.create("p", { containers: [container("web", { readinessProbe, startupProbe: readinessProbe })] });
    await node.pass(2);
    expect(containerOf("p")?.ready).toBe(true);
    const patches = node.patches.length;
    node.runtime.scripts.set("web", { probe: () => undefined, exec: () => new Promise(() => undefined) });
    await node.open();
    expect(node.patches.slice(patches)).toEqual([]);
  });
});

describe("hooks", () => {
  test("after the start may fail, which restarts the container", async () => {
    node.runtime.scripts.set("web", { exec: () => 4 });
    const lifecycle = { postStart: { exec: { command: ["hello"] } } };
    await node.create("p", { containers: [container("web", { lifecycle })] });
    expect(messages("FailedPostStartHook")).toEqual(["PostStartHook failed"]);
    expect(containerOf("p")?.state?.waiting?.reason).toBe("PostStartHookError");
    expect(containerOf("p")?.state?.waiting?.message).toStartWith(
      'Exec lifecycle hook ([hello]) for Container "web" in Pod "p_n(uid-p)" failed - error: ',
    );
  });
});

describe("the node", () => {
  test("rejects a pod that it has no room for", async () => {
    node.node.status = { allocatable: { pods: "1" } };
    await node.create("a");
    await node.create("b");
    expect(node.status("b")).toMatchObject({ phase: "Failed", reason: "OutOfpods" });
    expect(node.status("b").message).toBe(
      "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1",
    );
    expect(node.reasons("b")).toEqual(["OutOfpods"]);
    await node.delete("b");
    expect(node.stored.has("b")).toBe(false);
    await node.open();
    expect(node.status("a").phase).toBe("Running");
  });

  test("judges new pods after a restart by those that run, and the oldest first", async () => {
    node.node.status = { allocatable: { pods: "2" } };
    await node.create("runs");
    await node.create("done", { restartPolicy: "Never" });
    node.runtime.exit("uid-done", "web", 0);
    await node.settle();
    const runs = node.stored.get("runs") as Pod;
    const waiting = (name: string, creationTimestamp: string): Pod => ({
      ...runs,
      metadata: { name, namespace: "n", uid: `uid-${name}`, generation: 1, resourceVersion: "1", creationTimestamp },
      status: { phase: "Pending" },
    });
    const known = [...node.stored];
    node.stored.clear();
    node.stored.set("a-late", waiting("a-late", "2026-01-01T00:02:00Z"));
    node.stored.set("b-early", waiting("b-early", "2026-01-01T00:01:00Z"));
    for (const [name, pod] of known) node.stored.set(name, pod);
    await node.open();
    expect(node.status("runs").phase).toBe("Running");
    expect(node.status("b-early").phase).toBe("Running");
    expect(node.status("a-late")).toMatchObject({ phase: "Failed", reason: "OutOfpods" });
  });

  test("defers a change of resources that it has no room for", async () => {
    node.node.status = { allocatable: { cpu: "1", pods: "10" } };
    const web = (cpu: string) => container("web", { resources: { requests: { cpu } } });
    await node.create("p", { containers: [web("500m")] });
    const resized = (cpu: string, generation: number) => (pod: Pod) => ({
      ...pod,
      metadata: { ...pod.metadata, generation },
      spec: { ...pod.spec, containers: [web(cpu)] },
    });
    await node.change("p", resized("2", 2));
    const type = "PodResizePending";
    expect(node.status("p").conditions).toContainEqual(expect.objectContaining({ type, reason: "Deferred" }));
    expect(containerOf("p")).toMatchObject({
      allocatedResources: { cpu: "500m" },
      resources: { requests: { cpu: "500m" } },
    });
    await node.change("p", resized("800m", 3));
    expect(node.status("p").conditions?.some((one) => one.type.startsWith("PodResize"))).toBe(false);
    expect(containerOf("p")).toMatchObject({
      allocatedResources: { cpu: "800m" },
      resources: { requests: { cpu: "800m" } },
    });
    expect(node.reasons().slice(-3)).toEqual(["ResizeDeferred", "ResizeStarted", "ResizeCompleted"]);
    expect(messages("ResizeStarted")).toEqual([
      'Pod resize started: {"containers":[{"name":"web","resources":{"requests":{"cpu":"800m"}}}],"generation":3}',
    ]);
  });

  test("brings a pod back after its sandbox was lost", async () => {
    await node.create("p", { initContainers: [container("init")] });
    node.runtime.exit("uid-p", "init", 0);
    await node.settle();
    node.runtime.loseSandbox("uid-p");
    await node.settle();
    expect(node.runtime.log).toContain("start init#1");
    node.runtime.exit("uid-p", "init", 0);
    await node.settle();
    expect(node.status("p").phase).toBe("Running");
    expect(node.reasons()).toContain("SandboxChanged");
  });

  test("writes a status again when the API server did not take it", async () => {
    node.failure = status.internal("no quorum");
    await node.create("p");
    await node.pass(2);
    expect(node.status("p").phase).toBe("Pending");
    node.failure = undefined;
    await node.pass(5);
    expect(node.status("p").phase).toBe("Running");
  });

  test("writes a status soon after a failure, however many there were before", async () => {
    await node.create("p");
    node.failure = status.internal("no quorum");
    node.runtime.exit("uid-p", "web", 1);
    await node.pass(130);
    node.failure = undefined;
    await node.pass(10);
    expect(containerOf("p")?.restartCount).toBe(1);
    node.failure = status.internal("no quorum");
    node.runtime.exit("uid-p", "web", 1);
    await node.settle();
    node.failure = undefined;
    await node.pass(1);
    expect(containerOf("p")?.state?.waiting?.reason).toBe("CrashLoopBackOff");
  });

  test("waits between its attempts to write the status of a pod that is gone", async () => {
    await node.create("p", { restartPolicy: "Never" });
    const pod = node.stored.get("p") as Pod;
    node.stored.delete("p");
    const { requests } = node;
    node.runtime.exit("uid-p", "web", 0);
    await node.settle();
    expect(node.requests).toBeLessThan(requests + 5);
    await node.pass(120);
    expect(node.requests).toBeGreaterThan(requests + 5);
    expect(node.requests).toBeLessThan(requests + 60);
    node.manager.podGone(pod);
    await node.settle();
    expect(node.manager.pods()).toEqual([]);
  });

  test("restores its own conditions, and leaves those of others", async () => {
    await node.create("p");
    const gate = { type: "a.example/gate", status: "True", lastProbeTime: null, lastTransitionTime: null } as const;
    await node.change("p", (pod) => {
      const conditions = pod.status?.conditions?.filter(({ type }) => type !== "Ready") ?? [];
      return { ...pod, status: { ...pod.status, conditions: [...conditions, gate] } };
    });
    const { conditions } = node.status("p");
    expect(conditions).toContainEqual(gate);
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  });

  test("brings files up to date every minute, also those of pods that ran before it started", async () => {
    await node.create("p");
    node.files.prepared.clear();
    await node.pass(61);
    expect(node.files.prepared.size).toBe(1);
    node.files.prepared.clear();
    await node.open();
    await node.pass(1);
    expect(node.files.prepared.size).toBe(1);
    node.runtime.exit("uid-p", "web", 1);
    await node.settle();
    expect(containerOf("p")?.restartCount).toBe(1);
  });

  test("ends what is left of pods that were removed while the agent was away", async () => {
    await node.create("gone");
    await node.create("stays");
    node.stored.delete("gone");
    await node.open();
    await node.manager.endOrphans();
    expect((await node.runtime.sandboxes()).map(({ podName }) => podName)).toEqual(["stays"]);
  });

  test("ends them later if the runtime cannot at once", async () => {
    await node.create("gone");
    node.stored.delete("gone");
    await node.open();
    const problem = new RuntimeError("", "busy");
    const remove = spyOn(node.runtime, "removeSandbox").mockRejectedValueOnce(problem);
    await node.manager.endOrphans();
    expect(node.errors.splice(0)).toEqual([problem]);
    await node.pass(31);
    expect(await node.runtime.sandboxes()).toEqual([]);
    expect(remove).toHaveBeenCalledTimes(2);
  });
});

describe("a static pod", () => {
  const source = { "kubernetes.io/config.source": "file" };
  const staticPod = (uid: string, image = "nginx:1", restartPolicy: "Always" | "Never" = "Always"): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "s-node-1", namespace: "n", uid, annotations: source },
    spec: { containers: [container("web", { image })], restartPolicy, nodeName: "node-1" },
  });
  const mirrored = { annotations: { ...source, "kubernetes.io/config.mirror": "hash" } };

  test("runs without the API, and its mirror shows its status", async () => {
    node.manager.podChanged(staticPod("hash"));
    await node.settle();
    expect(node.runtime.log).toContain("start web#0");
    expect(node.patches).toEqual([]);
    await node.create("s-node-1", {}, { uid: "mirror", ...mirrored });
    expect(node.status("s-node-1")).toMatchObject({ phase: "Running", containerStatuses: [{ ready: true }] });
    expect(node.runtime.log.filter((line) => line.startsWith("run "))).toEqual(["run s-node-1"]);
    expect(node.manager.find("n", "s-node-1")?.pod.metadata.uid).toBe("hash");
  });

  test("keeps running when its mirror is deleted", async () => {
    node.manager.podChanged(staticPod("hash"));
    await node.create("s-node-1", {}, { uid: "mirror", ...mirrored });
    await node.delete("s-node-1");
    await node.remove("s-node-1");
    expect(node.runtime.log.some((line) => line.startsWith("stop "))).toBe(false);
  });

  test("may end before it has a mirror, and after its mirror was deleted", async () => {
    node.manager.podChanged(staticPod("hash", "nginx:1", "Never"));
    await node.settle();
    node.runtime.exit("hash", "web", 0);
    await node.settle();
    await node.create("s-node-1", {}, { uid: "mirror", ...mirrored });
    expect(node.status("s-node-1").phase).toBe("Succeeded");
    await node.remove("s-node-1");
    await node.create("s-node-1", {}, { uid: "mirror-2", ...mirrored });
    expect(node.status("s-node-1").phase).toBe("Succeeded");
  });

  test("that changed starts after the earlier one has ended", async () => {
    node.manager.podChanged(staticPod("hash"));
    await node.settle();
    node.runtime.scripts.set("web", { stopMs: 1_000 });
    node.manager.podGone(staticPod("hash"));
    node.manager.podChanged(staticPod("hash-2", "nginx:2"));
    await node.settle();
    expect(node.runtime.log).not.toContain("pull nginx:2");
    await node.pass(2);
    expect(node.runtime.log.at(-1)).toBe("start web#0");
    expect(node.runtime.log).toContain("pull nginx:2");
  });
});
