import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Answer, mergePatch, pod, TestServer } from "./server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

interface PodState {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly labels?: Record<string, string>;
}

interface Scene {
  readonly namespace: string;
  readonly pods: string;
  evict(name: string, more?: object, query?: string): Promise<Answer>;
  pod(name: string, state?: PodState): Promise<void>;
  budget(name: string, status: object, spec?: object): Promise<void>;
  budgetStatus(name: string): Promise<any>;
}

async function scene(): Promise<Scene> {
  const namespace = await server.namespace();
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  return {
    namespace,
    pods,
    evict: (name, more = {}, query = "") =>
      server.post(`${pods}/${name}/eviction${query}`, {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name },
        ...more,
      }),
    async pod(name, { phase = "Running", ready = true, labels = { app: "web" } } = {}) {
      await server.create(pods, pod(name, {}, { labels, finalizers: ["example.com/watched"] }));
      const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
      const { code } = await server.patch(`${pods}/${name}/status`, mergePatch, { status: { phase, conditions } });
      expect(code).toBe(200);
    },
    async budget(name, status, spec = {}) {
      const { metadata } = await server.create(budgets, {
        metadata: { name },
        spec: { selector: { matchLabels: { app: "web" } }, minAvailable: 1, ...spec },
      });
      const observed = {
        observedGeneration: metadata.generation ?? 0,
        expectedPods: 0,
        desiredHealthy: 0,
        currentHealthy: 0,
      };
      const full = { disruptionsAllowed: 0, ...observed, ...status };
      const { code } = await server.patch(`${budgets}/${name}/status`, mergePatch, { status: full });
      expect(code).toBe(200);
    },
    budgetStatus: async (name) => (await server.get(`${budgets}/${name}`)).json.status,
  };
}

async function stateOf({ pods }: Scene, name: string): Promise<string> {
  const { code, json } = await server.get(`${pods}/${name}`);
  if (code === 404) return "gone";
  return json.metadata.deletionTimestamp === undefined ? "alive" : "going";
}

describe("an eviction", () => {
  test("without a budget deletes the pod, which gets a condition with the reason, and answers with a Status", async () => {
    const here = await scene();
    await here.pod("a");
    const { code, json } = await here.evict("a");
    expect({ code, json }).toEqual({
      code: 201,
      json: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
    });
    expect(await stateOf(here, "a")).toBe("going");
    const { status } = (await server.get(`${here.pods}/a`)).json;
    expect(status.conditions.at(-1)).toMatchObject({
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
    });
  });

  test("is taken under the version of old, and under no other", async () => {
    const here = await scene();
    await here.pod("a");
    const other = await here.evict("a", { apiVersion: "policy/v2" });
    expect({ code: other.code, message: other.json.message }).toEqual({
      code: 400,
      message:
        'Eviction in version "v2" cannot be handled as a Eviction: no kind "Eviction" is registered for version "policy/v2" in scheme "pkg/runtime/scheme.go:111"',
    });
    expect((await here.evict("a", { apiVersion: "policy/v1beta1" })).code).toBe(201);
  });

  test("is counted in its budget, and refused once nothing is left", async () => {
    const here = await scene();
    await here.pod("a");
    await here.pod("b");
    await here.budget("web", { disruptionsAllowed: 1, desiredHealthy: 1, currentHealthy: 2 });
    expect((await here.evict("a")).code).toBe(201);
    const after = await here.budgetStatus("web");
    expect(after.disruptionsAllowed).toBe(0);
    expect(Object.keys(after.disruptedPods)).toEqual(["a"]);
    expect(after.conditions).toEqual([
      expect.objectContaining({ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" }),
    ]);

    const refused = await here.evict("b");
    expect({ code: refused.code, json: refused.json }).toEqual({
      code: 429,
      json: {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        reason: "TooManyRequests",
        details: {
          causes: [
            {
              reason: "DisruptionBudget",
              message: "The disruption budget web needs 1 healthy pods and has 2 currently",
            },
          ],
        },
        code: 429,
      },
    });
    expect(refused.headers.get("retry-after")).toBeNull();
    expect(await stateOf(here, "b")).toBe("alive");
  });

  test("of many at once never takes more than the budget allows", async () => {
    const here = await scene();
    const names = Array.from({ length: 12 }, (_, at) => `p${at}`);
    for (const name of names) await here.pod(name);
    await here.budget("web", { disruptionsAllowed: 5, desiredHealthy: 7, currentHealthy: 12 });
    const answers = await Promise.all(names.map((name) => here.evict(name)));
    expect(answers.map(({ code }) => code).sort()).toEqual([...Array(5).fill(201), ...Array(7).fill(429)]);
    const { disruptionsAllowed, disruptedPods } = await here.budgetStatus("web");
    expect({ disruptionsAllowed, disrupted: Object.keys(disruptedPods).length }).toEqual({
      disruptionsAllowed: 0,
      disrupted: 5,
    });
    const states = await Promise.all(names.map((name) => stateOf(here, name)));
    expect(states.filter((state) => state === "going").length).toBe(5);
  });

  test("of a pod with two budgets is a Status of failure in a 201", async () => {
    const here = await scene();
    await here.pod("a");
    await here.budget("one", { disruptionsAllowed: 1 });
    await here.budget("two", { disruptionsAllowed: 1 });
    const { code, json } = await here.evict("a");
    expect({ code, status: json.status, inner: json.code, message: json.message }).toEqual({
      code: 201,
      status: "Failure",
      inner: 500,
      message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    });
    expect(await stateOf(here, "a")).toBe("alive");
  });

  test.each([
    ["a pod that has ended", { phase: "Failed" }, {}],
    ["a pod that has not started", { phase: "Pending", ready: false }, {}],
    ["an unready pod under AlwaysAllow", { ready: false }, { unhealthyPodEvictionPolicy: "AlwaysAllow" }],
  ] as const)("of %s needs no budget", async (_name, state, spec) => {
    const here = await scene();
    await here.pod("a", state);
    await here.budget("web", { disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy: 0 }, spec);
    expect((await here.evict("a")).code).toBe(201);
    expect(await stateOf(here, "a")).toBe("going");
    expect((await here.budgetStatus("web")).disruptedPods).toBeUndefined();
  });

  test.each([
    [{ desiredHealthy: 1, currentHealthy: 1 }, 201],
    [{ desiredHealthy: 2, currentHealthy: 1 }, 429],
    [{ desiredHealthy: 0, currentHealthy: 0 }, 429],
  ] as const)("of an unready pod under %j is %d", async (status, code) => {
    const here = await scene();
    await here.pod("a", { ready: false });
    await here.budget("web", status);
    expect((await here.evict("a")).code).toBe(code);
  });

  test("as a dry run checks everything and changes nothing", async () => {
    const here = await scene();
    await here.pod("a");
    await here.budget("web", { disruptionsAllowed: 1, desiredHealthy: 0, currentHealthy: 1 });
    for (const attempt of [
      () => here.evict("a", {}, "?dryRun=All"),
      () => here.evict("a", { deleteOptions: { dryRun: ["All"] } }),
    ]) {
      expect((await attempt()).code).toBe(201);
      expect(await stateOf(here, "a")).toBe("alive");
      expect((await here.budgetStatus("web")).disruptionsAllowed).toBe(1);
    }
  });

  test("holds to its preconditions, its name and its options", async () => {
    const here = await scene();
    await here.pod("a");
    const uid = await here.evict("a", { deleteOptions: { preconditions: { uid: "other" } } });
    expect({ code: uid.code, reason: uid.json.reason }).toEqual({ code: 409, reason: "Conflict" });
    const version = await here.evict("a", { deleteOptions: { preconditions: { resourceVersion: "1" } } });
    expect(version.code).toBe(409);
    const name = await here.evict("a", { metadata: { name: "b" } });
    expect({ code: name.code, message: name.json.message }).toEqual({
      code: 400,
      message: "name in URL does not match name in Eviction object",
    });
    const policy = await here.evict("a", { deleteOptions: { propagationPolicy: "Sideways" } });
    expect(policy.code).toBe(422);
    expect((await here.evict("missing")).json).toMatchObject({ code: 404, message: 'pods "missing" not found' });
    expect(await stateOf(here, "a")).toBe("alive");
    const { resourceVersion } = (await server.get(`${here.pods}/a`)).json.metadata;
    expect((await here.evict("a", { deleteOptions: { preconditions: { resourceVersion } } })).code).toBe(201);
  });
});
