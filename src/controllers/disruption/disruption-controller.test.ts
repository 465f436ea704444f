import { afterEach, beforeEach, expect, test } from "bun:test";
import type { OwnerReference } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from "../../api/types/policy-v1.ts";
import type { Client } from "../../client/client.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { ControllerTest } from "../testing.ts";
import { startDisruption } from "./start-disruption.ts";

const resource = "poddisruptionbudgets.policy";
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

/** Answers for the scale of built-in workloads from the store. */
const client: Pick<Client, "get"> = {
  get: async ({ group, resource: plural }, { name }) => {
    const found = objects.get<any>(group === "" ? plural : `${plural}.${group}`, name);
    if (found === undefined) throw status.notFound({ group, resource: plural, name });
    return { ...found, spec: { replicas: found.spec.replicas } };
  },
};

async function start(): Promise<void> {
  running?.[Symbol.dispose]();
  running = startDisruption({ ...objects, client, catalog: builtInCatalog(Scheme.builtIn()) });
  await objects.pass();
}

const labels = { app: "web" };
const container = { name: "c", image: "i" };

async function createBudget(spec: PodDisruptionBudgetSpec, name = "b"): Promise<void> {
  const object = { kind: "PodDisruptionBudget", apiVersion: "policy/v1", metadata: { name, namespace: "n" } };
  await objects.create(resource, { ...object, spec: { selector: { matchLabels: labels }, ...spec } });
  await objects.pass();
}

async function createPods(
  count: number,
  ownerReferences: readonly OwnerReference[] = [],
  ready = count,
): Promise<void> {
  for (let at = 1; at <= count; at++) {
    const metadata = { name: `pod-${at}`, namespace: "n", labels, ownerReferences };
    await objects.create("pods", { kind: "Pod", metadata, spec: { containers: [container] } });
    await setReady(`pod-${at}`, at <= ready);
  }
}

const setReady = (name: string, ready: boolean) =>
  objects.update(
    "pods",
    name,
    (pod) => ({
      ...pod,
      status: { phase: "Running", conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
    }),
    "status",
  );

/** Creates a workload and returns what its pods name as their controller. */
async function createWorkload(
  kind: string,
  plural: string,
  replicas: number,
  ownerReferences: readonly OwnerReference[] = [],
): Promise<OwnerReference> {
  const name = kind.toLowerCase();
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const selector = { matchLabels: labels };
  const spec = { replicas, selector, template, ...(kind === "StatefulSet" && { serviceName: "s" }) };
  const metadata = { name, namespace: "n", ownerReferences };
  const { uid = "" } = (await objects.create(plural, { kind, apiVersion: "apps/v1", metadata, spec })).metadata;
  return { apiVersion: "apps/v1", kind, name, uid, controller: true };
}

const budget = () => objects.get<PodDisruptionBudget>(resource, "b");
const counts = () => {
  const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = budget()?.status ?? {};
  return { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods };
};
const condition = () => budget()?.status?.conditions?.[0];

test("a pod may have the name of a property that every object has", async () => {
  const metadata = { name: "constructor", namespace: "n", labels };
  await objects.create("pods", { kind: "Pod", metadata, spec: { containers: [container] } });
  await setReady("constructor", true);
  await start();
  await createBudget({ minAvailable: 0 });
  expect(objects.get<PodDisruptionBudget>(resource, "b")?.status).toMatchObject({ currentHealthy: 1 });
});

test("a budget of a number of pods counts those that are ready", async () => {
  await start();
  await createPods(3, [], 2);
  await createBudget({ minAvailable: 1 });
  expect(counts()).toEqual({ disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 3 });
  expect(budget()?.status?.observedGeneration).toBe(1);
  expect(condition()).toMatchObject({
    type: "DisruptionAllowed",
    status: "True",
    reason: "SufficientPods",
    observedGeneration: 1,
  });
  await setReady("pod-1", false);
  expect(counts()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 1 });
  expect(condition()).toMatchObject({ status: "False", reason: "InsufficientPods" });
  await objects.delete("pods", "pod-1", { gracePeriodSeconds: 0 });
  await objects.delete("pods", "pod-2");
  expect(counts()).toMatchObject({ currentHealthy: 0, expectedPods: 1 });
});

test("a budget without pods allows nothing and says so", async () => {
  await start();
  await createBudget({ minAvailable: 0 });
  expect(counts()).toEqual({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 });
  expect(objects.events()).toEqual(["NoPods: No matching pods found"]);
});

test.each([
  [{ maxUnavailable: 1 }, { desiredHealthy: 4, disruptionsAllowed: 0 }],
  [{ maxUnavailable: "30%" }, { desiredHealthy: 3, disruptionsAllowed: 1 }],
  [{ minAvailable: "50%" }, { desiredHealthy: 3, disruptionsAllowed: 1 }],
] as const)("a budget of %p is relative to the scale of the controllers", async (spec, expected) => {
  const deployment = await createWorkload("Deployment", "deployments.apps", 5);
  const replicaSet = await createWorkload("ReplicaSet", "replicasets.apps", 2, [deployment]);
  await createPods(4, [replicaSet]);
  await start();
  await createBudget(spec);
  expect(counts()).toMatchObject({ ...expected, currentHealthy: 4, expectedPods: 5 });
});

test("a ReplicaSet of its own and a StatefulSet are counted by their own scale", async () => {
  await createPods(2, [await createWorkload("StatefulSet", "statefulsets.apps", 3)]);
  await start();
  await createBudget({ maxUnavailable: 1 });
  expect(counts()).toMatchObject({ expectedPods: 3, desiredHealthy: 2, currentHealthy: 2 });
});

test("pods without a controller are reported, and not counted", async () => {
  await createPods(2);
  await start();
  await createBudget({ maxUnavailable: 1 });
  expect(counts()).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0 });
  expect(objects.events()[0]).toStartWith(
    "UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. ",
  );
});

test.each([
  ["ReplicaSet", "apps/v1", 'found no controllers for pod "pod-1"'],
  ["DaemonSet", "apps/v1", "daemonsets.apps does not implement the scale subresource"],
  ["Robot", "example.com/v1", 'no matches for kind "Robot" in version "example.com/v1"'],
])("a budget of pods of an unknown %s allows nothing", async (kind, apiVersion, message) => {
  await createPods(1, [{ apiVersion, kind, name: "missing", uid: "u", controller: true }]);
  await start();
  await createBudget({ maxUnavailable: 1 });
  expect(counts()).toMatchObject({ disruptionsAllowed: 0 });
  expect(condition()).toMatchObject({ status: "False", reason: "SyncFailed", message });
  expect(objects.events()).toEqual([
    `CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: ${message}`,
  ]);
});

test("an evicted pod does not count until it is gone, or for two minutes", async () => {
  await createPods(2);
  await start();
  await createBudget({ minAvailable: 1 });
  const disruptedPods = {
    "pod-1": new Date(objects.clock.nowMs()).toISOString().replace(/\.\d+/, ""),
    gone: "2020-01-01T00:00:00Z",
  };
  await objects.update(resource, "b", (old) => ({ ...old, status: { ...old.status, disruptedPods } }), "status");
  expect(counts()).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0 });
  expect(Object.keys(budget()?.status?.disruptedPods ?? {})).toEqual(["pod-1"]);
  await objects.pass(119_000);
  expect(counts()).toMatchObject({ currentHealthy: 1 });
  await objects.pass(2_000);
  expect(counts()).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  expect(budget()?.status?.disruptedPods).toBeUndefined();
  expect(objects.events()).toEqual(["NotDeleted: Pod was expected by PDB n/b to be deleted but it wasn't"]);
});

test("a change of a pod that does not matter, and a new leader, cost no write", async () => {
  await createPods(1);
  await start();
  await createBudget({ minAvailable: 1 });
  const before = budget()?.metadata.resourceVersion;
  const annotations = { note: "x" };
  await objects.update("pods", "pod-1", (pod) => ({ ...pod, metadata: { ...pod.metadata, annotations } }));
  await start();
  expect(budget()?.metadata.resourceVersion).toBe(before as string);
});

test("a pod that two budgets cover is reported", async () => {
  await start();
  await createBudget({ minAvailable: 1 });
  await createBudget({ minAvailable: 1 }, "c");
  await createPods(1);
  expect(objects.events()).toContain(
    'MultiplePodDisruptionBudgets: Pod "n"/"pod-1" matches multiple PodDisruptionBudgets.  Chose "b" arbitrarily.',
  );
  expect(counts()).toMatchObject({ currentHealthy: 1 });
});

test("a pod that was not deleted loses the condition DisruptionTarget after two minutes", async () => {
  const lastTransitionTime = new Date(objects.clock.nowMs()).toISOString();
  const target = (reason: string) => ({
    type: "DisruptionTarget",
    status: "True",
    reason,
    message: "m",
    lastTransitionTime,
  });
  await createPods(2);
  const mark = (name: string, reason: string) =>
    objects.update(
      "pods",
      name,
      (pod) => ({ ...pod, status: { ...pod.status, conditions: [target(reason)] } }),
      "status",
    );
  await mark("pod-1", "EvictionByEvictionAPI");
  await mark("pod-2", "TerminationByKubelet");
  await start();
  const conditionOf = (name: string) => objects.get<any>("pods", name).status.conditions[0];
  await objects.pass(119_000);
  expect(conditionOf("pod-1").status).toBe("True");
  await objects.pass(2_000);
  expect(conditionOf("pod-1")).toMatchObject({ type: "DisruptionTarget", status: "False" });
  expect(conditionOf("pod-1").reason).toBeUndefined();
  expect(conditionOf("pod-2").status).toBe("True");
});
