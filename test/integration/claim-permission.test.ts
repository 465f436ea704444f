import { afterAll, beforeAll, expect, test } from "bun:test";
import { mergePatch, TestServer } from "./server.ts";

const claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const group = ["resource.k8s.io"];
const results = [{ request: "r", driver: "a.example.com", pool: "p", device: "d" }];
const allocated = { allocation: { devices: { results } } };
const reported = { devices: [{ driver: "a.example.com", pool: "p", device: "d" }] };
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ authorizationMode: ["RBAC"] });
  await allow("plain", "resourceclaims/status", ["patch"]);
  await allow("scheduler", "resourceclaims/status", ["patch"]);
  await allow("scheduler", "resourceclaims/binding", ["patch"]);
  await allow("driver", "resourceclaims/status", ["patch"]);
  await allow("driver", "resourceclaims/driver", ["arbitrary-node:patch"]);
  const devices = { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] };
  await server.post(claims, { metadata: { name: "c" }, spec: { devices } });
});
afterAll(() => server.close());

async function allow(user: string, resource: string, verbs: readonly string[]): Promise<void> {
  const name = `${user}-${resource.split("/")[1]}`;
  const rules = [{ apiGroups: group, resources: [resource], verbs }];
  await server.post(`${rbac}/clusterroles`, { metadata: { name }, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }];
  const bound = await server.post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
  expect(bound.code).toBe(201);
}

async function patch(user: string, status: unknown): Promise<[code: number, fields?: string[]]> {
  const headers = { "impersonate-user": user };
  const answer = await server.request("PATCH", `${claims}/c/status`, { body: { status }, type: mergePatch, headers });
  const causes: { field: string }[] | undefined = answer.json.details?.causes;
  return causes === undefined ? [answer.code] : [answer.code, causes.map(({ field }) => field)];
}

test("the right to update the status of claims neither allocates devices nor reports on them", async () => {
  expect(await patch("plain", allocated)).toEqual([422, ["status.allocation"]]);
  expect(await patch("driver", allocated)).toEqual([422, ["status.allocation"]]);
  expect(await patch("scheduler", allocated)).toEqual([200]);
  expect(await patch("plain", reported)).toEqual([422, ["status.devices"]]);
  expect(await patch("scheduler", reported)).toEqual([422, ["status.devices"]]);
  expect(await patch("driver", reported)).toEqual([200]);
  expect(await patch("driver", { allocation: null })).toEqual([422, ["status.allocation"]]);
});

test("a claim whose devices are taken away loses the reports on them", async () => {
  expect(await patch("scheduler", { allocation: null })).toEqual([200]);
  expect((await server.get(`${claims}/c`)).json.status).toEqual({});
});
