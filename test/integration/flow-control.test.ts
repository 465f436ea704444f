import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const group = "/apis/flowcontrol.apiserver.k8s.io/v1";
const levels = `${group}/prioritylevelconfigurations`;
const schemas = `${group}/flowschemas`;
const pages = "/debug/api_priority_and_fairness";
const configMaps = "/api/v1/namespaces/default/configmaps";
const everything = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const oneSeat = { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0 };

let server: TestServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  server = await TestServer.start({
    authorizationMode: ["AlwaysAllow"],
    maxRequestsInflight: 20,
    maxMutatingRequestsInflight: 10,
  });
  session = server.http2();
}, 60_000);
afterAll(async () => {
  session.close();
  await server[Symbol.asyncDispose]();
});

function as(user: string): { headers: Record<string, string> } {
  return { headers: { "impersonate-user": user } };
}

function createLevel(name: string, limitResponse: object, seats: object = oneSeat): Promise<any> {
  return server.create(levels, { metadata: { name }, spec: { type: "Limited", limited: { ...seats, limitResponse } } });
}

function createSchema(name: string, level: string, user: string): Promise<any> {
  const subjects = [{ kind: "User", user: { name: user } }];
  return server.create(schemas, {
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: 50,
      rules: [{ subjects, ...everything }],
    },
  });
}

/** A request that runs until the test sends the rest of its body. */
class HeldRequest implements Disposable {
  readonly #stream: ClientHttp2Stream;
  readonly code: Promise<number>;

  constructor(user: string) {
    this.#stream = session.request({
      ":method": "POST",
      ":path": configMaps,
      authorization: `Bearer ${server.running.token}`,
      "impersonate-user": user,
      "content-type": "application/json",
    });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.code = promise;
    promise.catch(() => {});
    this.#stream.on("response", ({ ":status": code }) => resolve(Number(code)));
    this.#stream.on("error", reject);
    this.#stream.resume();
    this.#stream.write("{");
  }

  end(): void {
    this.#stream.end(`"metadata":{"generateName":"held-"}}`);
  }

  [Symbol.dispose](): void {
    this.#stream.close();
  }
}

/** Returns the rows of a user's requests on the debugging page. */
async function arrived(user: string): Promise<string[][]> {
  const { text } = await server.get(`${pages}/dump_requests?includeRequestDetails=1`);
  const rows = text.split("\n").map((line) => line.split(",").map((cell) => cell.trim()));
  return rows.filter((row) => row[10] === user);
}

async function metric(line: string): Promise<number> {
  const { text } = await server.get("/metrics");
  const found = text.split("\n").find((each) => each.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1));
}

test("a new level and schema count from the next request on; beyond the seats, 429 as text", async () => {
  const level = await createLevel("tiny", { type: "Reject" });
  const schema = await createSchema("for-greedy", "tiny", "greedy");
  const first = await server.get(configMaps, as("greedy"));
  expect(first.code).toBe(200);
  expect(first.headers.get("x-kubernetes-pf-flowschema-uid")).toBe(schema.metadata.uid);
  expect(first.headers.get("x-kubernetes-pf-prioritylevel-uid")).toBe(level.metadata.uid);

  using held = new HeldRequest("greedy");
  await until(async () => (await arrived("greedy")).length === 1);
  const refused = await server.get(configMaps, as("greedy"));
  expect([refused.code, refused.text]).toEqual([429, "Too many requests, please try again later.\n"]);
  expect(refused.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.headers.get("x-kubernetes-pf-prioritylevel-uid")).toBe(level.metadata.uid);
  expect((await server.get(configMaps, as("modest"))).code).toBe(200);
  const labels = `flow_schema="for-greedy",priority_level="tiny"`;
  expect(
    await metric(`apiserver_flowcontrol_rejected_requests_total{${labels},reason="concurrency-limit"}`),
  ).toBeGreaterThan(0);
  expect(await metric(`apiserver_flowcontrol_current_executing_seats{${labels}}`)).toBe(1);

  held.end();
  expect(await held.code).toBe(201);
  expect((await server.get(configMaps, as("greedy"))).code).toBe(200);
});

test("pages for debugging show levels, queues and requests", async () => {
  await createLevel("shown", { type: "Queue", queuing: { queues: 2, handSize: 1, queueLengthLimit: 5 } });
  await createSchema("for-shown", "shown", "watched");
  using held = new HeldRequest("watched");
  await until(async () => (await arrived("watched")).length === 1);
  using late = new HeldRequest("watched");
  await until(async () => (await arrived("watched")).length === 2);
  const rows = await arrived("watched");
  const queue = rows[0]?.[2];
  const detail = ["watched", "create", configMaps, "default", "", "v1", "configmaps", ""];
  expect(rows.map((row) => row.filter((_, at) => at !== 5 && at !== 9))).toEqual(
    ["0", "-1"].map((index) => ["shown", "for-shown", queue ?? "", index, "", "1", "0", "0s"].concat(detail)),
  );
  expect(rows[0]?.[9]).toBe("0001-01-01T00:00:00Z");
  expect(Date.parse(rows[1]?.[9] ?? "")).toBeGreaterThan(0);

  const { text, headers } = await server.get(`${pages}/dump_priority_levels`);
  expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(text).toMatch(/^PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, /);
  expect(text).toMatch(/^shown, +1, +false, +false, +1, +1, +1, +0, +0, +0$/m);
  const queues = (await server.get(`${pages}/dump_queues`)).text.split("\n").filter((line) => line.startsWith("shown"));
  expect(queues.length).toBe(2);
  expect(queues[Number(queue)]).toMatch(/^shown, +\d, +1, +1, +1, +\d+\.\d{8}ss, +1, +1, +0\.00300000ss$/);
  expect((await server.get(`${pages}/dump_queues`, { token: "" })).code).toBe(401);

  held.end();
  late.end();
  expect(await Promise.all([held.code, late.code])).toEqual([201, 201]);
});

test("a schema without its level is marked, and not used", async () => {
  await createSchema("astray", "absent", "wanderer");
  await until(async () => {
    const { status } = (await server.get(`${schemas}/astray`)).json;
    return status?.conditions?.[0]?.status === "True";
  });
  const { status } = (await server.get(`${schemas}/astray`)).json;
  expect(status.conditions[0]).toMatchObject({ type: "Dangling", reason: "NotFound" });
  const { metadata } = (await server.get(`${schemas}/global-default`)).json;
  const answer = await server.get(configMaps, as("wanderer"));
  expect(answer.headers.get("x-kubernetes-pf-flowschema-uid")).toBe(metadata.uid);
});

describe("a greedy service account", () => {
  const greedy = "system:serviceaccount:default:greedy";
  const requests = 60;

  test("runs within the seats of its level, and holds up no other level", async () => {
    using parts = new DisposableStack();
    const held = Array.from({ length: requests }, () => parts.use(new HeldRequest(greedy)));
    await until(async () => (await arrived(greedy)).length === requests);
    const rows = await arrived(greedy);
    const limit = await metric(`apiserver_flowcontrol_current_limit_seats{priority_level="${rows[0]?.[0]}"}`);
    expect(rows.filter((row) => row[3] === "-1").length).toBe(limit);
    expect(new Set(rows.map((row) => row[2])).size).toBeLessThanOrEqual(6);

    // Its level is full, but the levels of leases, nodes and health checks are not.
    const controllers = as("system:serviceaccount:kube-system:controller");
    const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    expect((await server.post(leases, { metadata: { name: "held" } }, controllers)).code).toBe(201);
    const node = { "impersonate-user": "system:node:a", "impersonate-group": "system:nodes" };
    expect((await server.get("/api/v1/nodes", { headers: node })).code).toBe(200);
    expect((await server.get("/readyz", as("prober"))).code).toBe(200);

    for (const request of held) request.end();
    expect(new Set(await Promise.all(held.map(({ code }) => code)))).toEqual(new Set([201]));
  }, 60_000);

  test("loses its place when it hangs up", async () => {
    {
      using parts = new DisposableStack();
      for (let at = 0; at < requests; at++) parts.use(new HeldRequest(greedy));
      await until(async () => (await arrived(greedy)).length === requests);
    }
    await until(async () => (await arrived(greedy)).length === 0);
    expect((await server.get(configMaps, as(greedy))).code).toBe(200);
  });
});

describe("seats", () => {
  test("--enable-priority-and-fairness=false counts requests as before", async () => {
    await using plain = await TestServer.start({ enablePriorityAndFairness: false });
    const { headers } = await plain.get(configMaps);
    expect(headers.has("x-kubernetes-pf-flowschema-uid")).toBe(false);
    expect((await plain.get(`${pages}/dump_queues`)).code).toBe(404);
    expect((await plain.get("/metrics")).text).not.toContain("apiserver_flowcontrol_");
  });

  test("are those of both limits together, of which one may be 0", async () => {
    await using small = await TestServer.start({ maxRequestsInflight: 0, maxMutatingRequestsInflight: 49 });
    const { text } = await small.get("/metrics");
    expect(text).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 20\n');
  });

  test("there must be some", async () => {
    const none = { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 };
    await expect(TestServer.start(none)).rejects.toThrow(
      "--max-requests-inflight and --max-mutating-requests-inflight are both 0: give one of them a value above 0, or " +
        "turn fairness off with --enable-priority-and-fairness=false",
    );
    await using unlimited = await TestServer.start({ ...none, enablePriorityAndFairness: false });
    expect((await unlimited.get(configMaps)).code).toBe(200);
  });
});
