import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configMap, jsonPatch, mergePatch, pod, TestServer } from "../server.ts";

/** A server with RBAC; each user has the rights of a row and no others, in the namespace `a` or in the whole cluster. */
type Rule = {
  apiGroups?: string[];
  resources?: string[];
  verbs: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
};
const core = (verbs: string[], resources: string[], resourceNames?: string[]): Rule => ({
  apiGroups: [""],
  resources,
  verbs,
  ...(resourceNames === undefined ? {} : { resourceNames }),
});
const users: Readonly<Record<string, { readonly namespace?: string; readonly rules: readonly Rule[] }>> = {
  nobody: { rules: [] },
  lister: { namespace: "a", rules: [core(["list"], ["configmaps"])] },
  getter: { namespace: "a", rules: [core(["get"], ["configmaps"])] },
  deleter: { namespace: "a", rules: [core(["delete"], ["configmaps"])] },
  updater: {
    namespace: "a",
    rules: [
      core(["update", "patch"], ["configmaps"]),
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["update", "patch"] },
    ],
  },
  pods: { namespace: "a", rules: [core(["get", "list", "update"], ["pods"])] },
  podLogs: { namespace: "a", rules: [core(["get"], ["pods/log"])] },
  podStatus: { namespace: "a", rules: [core(["get", "update", "patch"], ["pods/status"])] },
  anyStatus: { namespace: "a", rules: [core(["get"], ["*/status"])] },
  podsStar: { namespace: "a", rules: [core(["get"], ["pods/*"])] },
  named: { namespace: "a", rules: [core(["list", "watch", "get", "deletecollection"], ["configmaps"], ["x"])] },
  creator: { namespace: "a", rules: [core(["create", "deletecollection"], ["configmaps"], ["x"])] },
  secrets: { namespace: "a", rules: [core(["get", "list", "watch"], ["secrets"])] },
  nodesInA: { namespace: "a", rules: [core(["get", "list", "update"], ["nodes", "persistentvolumes"])] },
  paths: { rules: [{ nonResourceURLs: ["/metrics", "/openapi/*"], verbs: ["get"] }] },
};
const directory = mkdtempSync(join(tmpdir(), "quorate-attacks-"));
const rbac = "/apis/rbac.authorization.k8s.io/v1";
let server: TestServer;

beforeAll(async () => {
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(
    tokenAuthFile,
    Object.keys(users)
      .map((name) => `${name}-token,${name},${name}-uid`)
      .join("\n"),
  );
  server = await TestServer.start({ authorizationMode: ["RBAC"], tokenAuthFile });
  for (const name of ["a", "ab"]) {
    await server.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await server.create(`/api/v1/namespaces/${name}/configmaps`, configMap("x", { a: "1" }));
    await server.create(`/api/v1/namespaces/${name}/configmaps`, configMap("y", { a: "2" }));
  }
  await server.create("/api/v1/namespaces/a/pods", pod("p"));
  await Promise.all(
    Object.entries(users).map(async ([user, { namespace, rules }]) => {
      const object = (kind: string, fields: object) => ({
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind,
        metadata: { name: user.toLowerCase() },
        ...fields,
      });
      await server.create(`${rbac}/clusterroles`, object("ClusterRole", { rules }));
      const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }];
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user.toLowerCase() };
      if (namespace === undefined)
        await server.create(`${rbac}/clusterrolebindings`, object("ClusterRoleBinding", { subjects, roleRef }));
      else
        await server.create(
          `${rbac}/namespaces/${namespace}/rolebindings`,
          object("RoleBinding", { subjects, roleRef }),
        );
    }),
  );
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const send = async (user: string, method: string, path: string, options: Parameters<TestServer["request"]>[2] = {}) =>
  server.request(method, path, { token: `${user}-token`, ...options });
const configMaps = "/api/v1/namespaces/a/configmaps";

test("attack 30: ungranted requests are denied", async () => {
  for (const path of ["/api/v1/nodes", configMaps, `${configMaps}/x`, "/metrics", "/apis/apps/v1/deployments"]) {
    expect((await send("nobody", "GET", path)).code).toBe(403);
  }
});

describe("attack 31: a watch is authorized as a watch, however it is asked for", () => {
  test.each([
    `${configMaps}?watch=1`,
    `${configMaps}?watch=true`,
    `${configMaps}?watch=TRUE`,
    `${configMaps}?watch=`,
    `${configMaps}?watch`,
    `${configMaps}?watch=1&watch=0`,
    `${configMaps}?wat%63h=1`,
    "/api/v1/watch/namespaces/a/configmaps",
  ])("%s", async (path) => {
    for (const user of ["lister", "getter"]) {
      const { code, json } = await send(user, "GET", path);
      expect({ code, verb: / cannot (\w+) /.exec(json.message)?.[1] }).toEqual({ code: 403, verb: "watch" });
    }
  });

  test("one object is read with get, and watch means nothing there", async () => {
    expect(await send("getter", "GET", `${configMaps}/x?watch=1`)).toMatchObject({ code: 200 });
    expect(await send("lister", "GET", `${configMaps}/x?watch=1`)).toMatchObject({ code: 403 });
  });

  test.each([`${configMaps}?watch=0`, `${configMaps}?watch=false`, `${configMaps}?watch=0&watch=1`])(
    "%s is a list",
    async (path) => {
      const { code, json } = await send("lister", "GET", path);
      expect([code, json.kind]).toEqual([200, "ConfigMapList"]);
    },
  );

  test("HEAD is get and list", async () => {
    expect((await send("getter", "HEAD", `${configMaps}/x`)).code).not.toBe(403);
    expect((await send("lister", "HEAD", `${configMaps}/x`)).code).toBe(403);
  });
});

describe("attack 32: the request line decides the method", () => {
  test.each([["X-HTTP-Method-Override"], ["X-HTTP-Method"], ["X-Method-Override"]])("%s is ignored", async (name) => {
    const { code, json } = await send("deleter", "GET", `${configMaps}/x`, { headers: { [name]: "DELETE" } });
    expect(code).toBe(403);
    expect(json.message).toContain("cannot get");
    expect((await send("deleter", "GET", `${configMaps}/x?_method=DELETE`)).code).toBe(403);
  });

  test.each([["TRACE"], ["PROPFIND"]])("%s is answered before the object is looked up", async (method) => {
    expect([400, 405, 501]).toContain(
      (await send("getter", method, `${configMaps}/x`).catch(() => ({ code: 405 }))).code,
    );
  });
});

describe("attack 33: each verb needs its own right", () => {
  test("DELETE of a collection is not DELETE of an object", async () => {
    const { code, json } = await send("deleter", "DELETE", configMaps);
    expect(code).toBe(403);
    expect(json.message).toContain("cannot deletecollection");
    expect((await server.get(`${configMaps}/x`)).code).toBe(200);
  });

  test("PUT to a missing name is authorized as a create too, for kinds that PUT creates", async () => {
    const path = "/apis/coordination.k8s.io/v1/namespaces/a/leases/new";
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "new" }, spec: {} };
    const { code, json } = await send("updater", "PUT", path, { body: lease });
    expect(code).toBe(403);
    expect(json.message).toContain('cannot create resource "leases"');
    const created = await server.put(path, lease);
    expect(created.code).toBe(201);
    expect((await send("updater", "PUT", path, { body: created.json })).code).toBe(200);
  });

  test("POST to a name does not create an object", async () => {
    expect((await send("updater", "POST", `${configMaps}/z`, { body: configMap("z") })).code).toBe(403);
    expect((await server.post(`${configMaps}/z`, configMap("z"))).code).toBe(405);
  });
});

describe("attack 34: a subresource is not its parent, nor the other way round", () => {
  const path = "/api/v1/namespaces/a/pods/p";
  test.each<[string, string, string, boolean]>([
    ["pods", "GET", path, true],
    ["pods", "GET", `${path}/log`, false],
    ["pods", "GET", `${path}/status`, false],
    ["pods", "PUT", `${path}/status`, false],
    ["podLogs", "GET", path, false],
    ["podStatus", "GET", path, false],
    ["podStatus", "GET", `${path}/status`, true],
    ["anyStatus", "GET", `${path}/status`, true],
    ["anyStatus", "GET", path, false],
    ["podsStar", "GET", path, false],
    ["podsStar", "GET", `${path}/log`, false],
  ])("%s: %s %s", async (user, method, target, allowed) => {
    const { code } = await send(user, method, target, method === "PUT" ? { body: pod("p") } : {});
    expect(code !== 403).toBe(allowed);
  });

  test("a status is not changed through its object, nor the object through its status", async () => {
    const through = await send("podStatus", "PATCH", `${path}/status`, {
      body: { metadata: { labels: { stolen: "yes" } }, spec: { nodeName: "n" }, status: { message: "said" } },
      type: mergePatch,
    });
    expect(through.code).toBe(200);
    expect(through.json.spec.nodeName).toBeUndefined();
    expect(through.json.status.message).toBe("said");
    const object = (await server.get(path)).json;
    const changed = await send("pods", "PUT", path, { body: { ...object, status: { message: "other" } } });
    expect(changed.json.status.message).toBe("said");
  });
});

describe("attack 35: a right on a name is a right on that name", () => {
  test.each([
    [`${configMaps}/x`],
    [`${configMaps}?fieldSelector=metadata.name%3Dx`],
    [`${configMaps}?fieldSelector=metadata.name%3D%3Dx`],
    [`${configMaps}?fieldSelector=metadata.namespace%3Da,metadata.name%3Dx`],
  ])("%s is allowed and gives it alone", async (path) => {
    const { code, json } = await send("named", "GET", path);
    expect(code).toBe(200);
    expect((json.items ?? [json]).map(({ metadata }: any) => metadata.name)).toEqual(["x"]);
  });

  test.each([
    [configMaps],
    [`${configMaps}/y`],
    [`${configMaps}?fieldSelector=metadata.name%3Dy`],
    [`${configMaps}?fieldSelector=metadata.name!%3Dy`],
    [`${configMaps}?fieldSelector=metadata.name%3Dxy`],
    [`${configMaps}?fieldSelector=metadata.namespace%3Da`],
    [`${configMaps}?fieldSelector=`],
    [`${configMaps}?fieldSelector=metadata.name%3Dy&fieldSelector=metadata.name%3Dx`],
    [`${configMaps}?labelSelector=metadata.name%3Dx`],
    ["/api/v1/configmaps?fieldSelector=metadata.name%3Dx"],
    ["/api/v1/namespaces/ab/configmaps?fieldSelector=metadata.name%3Dx"],
  ])("%s is not", async (path) => {
    expect((await send("named", "GET", path)).code).toBe(403);
  });

  test.each([
    ["metadata.name%3Dx,metadata.name%3Dy"],
    ["metadata.name%3Dx&fieldSelector=metadata.name%3Dy"],
    ["metadata.name%3Dx,metadata.name!%3Dx"],
  ])("fieldSelector=%s never gives another", async (selector) => {
    const { code, json } = await send("named", "GET", `${configMaps}?fieldSelector=${selector}`);
    const names = code === 200 ? json.items.map(({ metadata }: any) => metadata.name) : [];
    expect(names).not.toContain("y");
  });

  test("creations and deletions of collections have no name to be limited by", async () => {
    expect((await send("creator", "POST", configMaps, { body: configMap("x") })).code).toBe(403);
    expect((await send("creator", "DELETE", configMaps)).code).toBe(403);
    expect((await send("creator", "DELETE", `${configMaps}?dryRun=All&fieldSelector=metadata.name%3Dx`)).code).toBe(
      403,
    );
  });
});

test.each([["a"], ["ab"]])("attack 37: names that begin alike are not alike (%s)", async (namespace) => {
  const { code, json } = await send("lister", "GET", `/api/v1/namespaces/${namespace}/configmaps`);
  expect(code).toBe(namespace === "a" ? 200 : 403);
  if (code === 200) expect(new Set(json.items.map(({ metadata }: any) => metadata.namespace))).toEqual(new Set(["a"]));
});

test("CVE-2019-11247: a right in a namespace does not reach cluster-scoped objects", async () => {
  await server.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
  for (const path of [
    "/api/v1/namespaces/a/nodes",
    "/api/v1/namespaces/a/nodes/n",
    "/api/v1/namespaces/a/persistentvolumes",
  ]) {
    expect((await send("nodesInA", "GET", path)).code).toBe(404);
  }
  expect((await send("nodesInA", "GET", "/api/v1/nodes/n")).code).toBe(403);
});

test("CVE-2021-25735: admission compares with the stored object, whatever the request contains", async () => {
  const wide = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "getter" },
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
  };
  const stored = (await server.get(`${rbac}/clusterroles/getter`)).json;
  const forged = { ...wide, metadata: { ...stored.metadata, uid: stored.metadata.uid, generation: 99 } };
  await server.create(`${rbac}/clusterroles`, {
    ...wide,
    metadata: { name: "writes-roles" },
    rules: [
      { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["get", "update", "patch"] },
    ],
  });
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "getter" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "writes-roles" };
  await server.create(`${rbac}/clusterrolebindings`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "writes-roles" },
    subjects,
    roleRef,
  });
  expect((await send("getter", "PUT", `${rbac}/clusterroles/getter`, { body: forged })).code).toBe(403);
  expect((await server.get(`${rbac}/clusterroles/getter`)).json.rules).toEqual(stored.rules);
});

describe("attack 38: a rejection reveals nothing about existing objects", () => {
  test("an object that exists and one that does not", async () => {
    const texts = await Promise.all(
      ["x", "missing"].map(async (name) => {
        const { code, json } = await send("lister", "GET", `${configMaps}/${name}`);
        return [code, json.message.replaceAll(name, "NAME")];
      }),
    );
    expect(texts[0]).toEqual(texts[1] as [number, string]);
  });

  test("a place in a list is good for the same list only", async () => {
    const first = await send("lister", "GET", `${configMaps}?limit=1`);
    const token = encodeURIComponent(first.json.metadata.continue);
    expect((await send("lister", "GET", `/api/v1/namespaces/ab/configmaps?limit=1&continue=${token}`)).code).toBe(403);
    const other = await send("secrets", "GET", `/api/v1/namespaces/a/secrets?limit=1&continue=${token}`);
    expect(other.code === 400 || other.code === 410 || other.json.items.length === 0).toBe(true);
  });

  test("a revoked right is gone for the next request on the same connection", async () => {
    const asViewer = { token: "nobody-token" };
    const name = "short-lived";
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "nobody" }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "lister" };
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name },
      subjects,
      roleRef,
    };
    await server.create(`${rbac}/namespaces/a/rolebindings`, binding);
    expect((await server.get(configMaps, asViewer)).code).toBe(200);
    await server.delete(`${rbac}/namespaces/a/rolebindings/${name}`);
    expect((await server.get(configMaps, asViewer)).code).toBe(403);
  });
});

test.each<[string, number]>([
  ["/metrics", 200],
  ["/metrics/slis", 403],
  ["/openapi/v3", 200],
  ["/openapix", 403],
  ["/debug/pprof/", 403],
])("paths outside of the API are granted one by one: %s", async (path, code) => {
  const answer = await send("paths", "GET", path);
  expect(answer.code === 403 ? 403 : 200).toBe(code === 403 ? 403 : 200);
});

test("attack 73: ordinary users have no access to metrics and debugging by default", async () => {
  for (const path of ["/metrics", "/debug/pprof/heap", "/logs", "/configz"]) {
    expect((await send("nobody", "GET", path)).code).toBe(403);
  }
});

test("attack 43: a dry run needs the same rights", async () => {
  expect((await send("lister", "POST", `${configMaps}?dryRun=All`, { body: configMap("z") })).code).toBe(403);
  expect((await send("updater", "PATCH", `${configMaps}/x?dryRun=All`, { body: [], type: jsonPatch })).code).toBe(200);
});
