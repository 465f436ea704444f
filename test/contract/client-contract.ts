import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { StatusError } from "../../src/api/status.ts";
import type { ConfigMap, Namespace, Pod } from "../../src/api/types/core-v1.ts";
import type { Client, ResourceType, WatchEvent } from "../../src/client/client.ts";
import { Informer } from "../../src/client/informer.ts";
import { type RunningServer, startServer } from "../../src/index.ts";
import { systemClock } from "../../src/process/clock.ts";

const configMaps: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };
const namespaces: ResourceType<Namespace> = { group: "", version: "v1", resource: "namespaces" };
const pods: ResourceType<Pod> = { group: "", version: "v1", resource: "pods" };
const deployments: ResourceType = { group: "apps", version: "v1", resource: "deployments" };

export type OpenClientOf = (server: RunningServer, user?: "nobody") => Client;

/**
 * Tests the contract of Client. `open` returns a client for a running server, as its administrator or as a user without
 * rights.
 */
export function clientContract(name: string, open: OpenClientOf): void {
  describe(name, () => {
    let server: RunningServer;
    let client: Client;
    let namespace: string;
    let spaces = 0;

    beforeAll(async () => {
      // The tests count ConfigMaps, so namespaces must not get one of their own.
      server = await startServer({
        authorizationMode: ["RBAC"],
        controllers: "*,-root-ca-certificate-publisher-controller",
      });
      client = open(server);
    });
    afterAll(async () => {
      client[Symbol.dispose]();
      await server.close({ graceMs: 1_000 });
    });

    async function freshNamespace(): Promise<string> {
      namespace = `space-${++spaces}`;
      await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      return namespace;
    }

    function configMap(of: string, data: Record<string, string> = {}): ConfigMap {
      return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: of, namespace }, data };
    }

    test("create(), get(), update() and delete() give typed objects", async () => {
      await freshNamespace();
      const created = await client.create(configMaps, configMap("a", { x: "1" }));
      expect(created).toMatchObject({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a", namespace } });
      expect(await client.get(configMaps, { namespace, name: "a" })).toEqual(created);
      const updated = await client.update(configMaps, { ...created, data: { x: "2" } });
      expect(updated.data).toEqual({ x: "2" });
      expect(updated.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion as string);
      const removed = await client.delete(configMaps, { namespace, name: "a" });
      expect(removed).toMatchObject({ kind: "Status", status: "Success" });
      expect(await refusal(client.get(configMaps, { namespace, name: "a" }))).toMatchObject({
        code: 404,
        reason: "NotFound",
        message: 'configmaps "a" not found',
      });
    });

    test("an object that waits for finalizers is the answer to its deletion", async () => {
      await freshNamespace();
      const held = configMap("held");
      await client.create(configMaps, { ...held, metadata: { ...held.metadata, finalizers: ["example.com/hold"] } });
      const answer = await client.delete(configMaps, { namespace, name: "held" });
      expect(answer).toMatchObject({ kind: "ConfigMap", metadata: { deletionTimestamp: expect.any(String) } });
      await client.patch(
        configMaps,
        { namespace, name: "held" },
        { kind: "merge", document: { metadata: { finalizers: null } } },
      );
    });

    test("refusals are StatusErrors with upstream's words", async () => {
      await freshNamespace();
      const created = await client.create(configMaps, configMap("a"));
      expect(await refusal(client.create(configMaps, configMap("a")))).toMatchObject({
        code: 409,
        reason: "AlreadyExists",
        message: 'configmaps "a" already exists',
      });
      await client.update(configMaps, { ...created, data: { x: "1" } });
      expect(await refusal(client.update(configMaps, { ...created, data: { x: "2" } }))).toMatchObject({
        reason: "Conflict",
      });
      const invalid = await refusal(client.create(configMaps, configMap("Not A Name")));
      expect(invalid).toMatchObject({ code: 422, reason: "Invalid" });
      expect(invalid.status.details?.causes?.[0]).toMatchObject({ field: "metadata.name" });
      const unknown: ResourceType = { group: "", version: "v1", resource: "gadgets" };
      expect(await refusal(client.list(unknown))).toMatchObject({ code: 404, reason: "NotFound" });
      const noGroup: ResourceType = { group: "example.com", version: "v1", resource: "gadgets" };
      expect(await refusal(client.list(noGroup))).toMatchObject({ code: 404, message: "404 page not found" });
      expect(await refusal(client.get(configMaps, { namespace, name: ".." }))).toMatchObject({ code: 400 });
      const old = { kind: "DeleteOptions", preconditions: { uid: "another" } };
      expect(await refusal(client.delete(configMaps, { namespace, name: "a" }, old))).toMatchObject({ code: 409 });
    });

    test("who has no rights is refused", async () => {
      await freshNamespace();
      using nobody = open(server, "nobody");
      for (const attempt of [
        () => nobody.get(configMaps, { namespace, name: "a" }),
        () => nobody.create(configMaps, configMap("a")),
        () => nobody.watch(configMaps, { namespace }).next(),
      ]) {
        expect(await refusal(attempt())).toMatchObject({ code: 403, reason: "Forbidden" });
      }
    });

    test("list() pages at one revision, and its items have their type", async () => {
      await freshNamespace();
      for (let at = 0; at < 5; at++) await client.create(configMaps, configMap(`c-${at}`));
      const first = await client.list(configMaps, { namespace, limit: 2 });
      await client.create(configMaps, configMap("c-later"));
      const second = await client.list(configMaps, { namespace, limit: 4, continue: first.metadata.continue });
      const all = [...first.items, ...second.items];
      expect(all.map(({ kind, apiVersion, metadata }) => `${kind} ${apiVersion} ${metadata.name}`)).toEqual(
        [0, 1, 2, 3, 4].map((at) => `ConfigMap v1 c-${at}`),
      );
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      expect([first.metadata.remainingItemCount, second.metadata.continue]).toEqual([3, undefined]);
      const { resourceVersion } = first.metadata;
      const exact = await client.list(configMaps, { namespace, resourceVersion, resourceVersionMatch: "Exact" });
      expect(exact.items).toHaveLength(5);
    });

    test("selectors choose, in list() and deleteCollection()", async () => {
      await freshNamespace();
      for (const color of ["red", "blue"]) {
        const object = configMap(color);
        await client.create(configMaps, { ...object, metadata: { ...object.metadata, labels: { color } } });
      }
      const red = { namespace, labelSelector: "color in (red)" };
      expect((await client.list(configMaps, red)).items.map(({ metadata }) => metadata.name)).toEqual(["red"]);
      const named = { namespace, fieldSelector: "metadata.name=blue" };
      expect((await client.list(configMaps, named)).items).toHaveLength(1);
      expect((await client.deleteCollection(configMaps, red)).items).toHaveLength(1);
      expect((await client.list(configMaps, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual([
        "blue",
      ]);
    });

    test("patch() takes every form", async () => {
      await freshNamespace();
      await client.create(configMaps, configMap("a", { x: "1" }));
      const of = { namespace, name: "a" };
      const merged = await client.patch(configMaps, of, { kind: "merge", document: { data: { y: "2" } } });
      expect(merged.data).toEqual({ x: "1", y: "2" });
      const operations = [{ op: "remove", path: "/data/x" }] as const;
      expect((await client.patch(configMaps, of, { kind: "json", operations })).data).toEqual({ y: "2" });
      const strategic = { metadata: { labels: { a: "b" } } };
      const labelled = await client.patch(configMaps, of, { kind: "strategic", document: strategic });
      expect(labelled.metadata.labels).toEqual({ a: "b" });
      expect(await refusal(client.patch(configMaps, of, { kind: "json", operations }))).toMatchObject({ code: 422 });
    });

    test("options of a write arrive", async () => {
      await freshNamespace();
      const tried = await client.create(configMaps, configMap("dry"), { dryRun: true });
      expect(tried.metadata.uid).toBeDefined();
      expect((await client.list(configMaps, { namespace })).items).toEqual([]);
      const strict = { ...configMap("strict"), unheard: "of" };
      const refused = await refusal(client.create(configMaps, strict, { fieldValidation: "Strict" }));
      expect(refused).toMatchObject({ code: 400 });
      const managed = await client.create(configMaps, configMap("managed", { x: "1" }), { fieldManager: "somebody" });
      expect(managed.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["somebody"]);
      const mine = await client.create(configMaps, configMap("mine", { x: "1" }));
      expect(mine.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["quorate"]);
    });

    test("subresources are read and written, and orders are given", async () => {
      await freshNamespace();
      const labels = { app: "web" };
      const deployment: KubeObject = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/main:1" }] } },
        },
      };
      await client.create(deployments, deployment);
      const scale = await client.get(deployments, { namespace, name: "web", subresource: "scale" });
      expect(scale).toMatchObject({ kind: "Scale", spec: { replicas: 1 } });
      await client.update(deployments, { ...scale, spec: { replicas: 3 } }, { subresource: "scale" });
      expect(await client.get(deployments, { namespace, name: "web" })).toMatchObject({ spec: { replicas: 3 } });
      const account = { namespace, name: "default", subresource: "token" };
      const accounts: ResourceType = { group: "", version: "v1", resource: "serviceaccounts" };
      const token = await client.create(accounts, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { namespace, name: "robot" },
      });
      expect(token.metadata.name).toBe("robot");
      const request = { kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", spec: { audiences: [] } };
      expect(await client.act(accounts, { ...account, name: "robot" }, request)).toMatchObject({
        status: { token: expect.any(String) },
      });
    });

    test("integers beyond a double's survive", async () => {
      await freshNamespace();
      const securityContext = { runAsUser: 9_007_199_254_740_993n };
      const spec = { containers: [{ name: "main", image: "example.com/main:1" }], securityContext };
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace }, spec, status: {} };
      const refused = await refusal(client.create(pods, pod));
      expect(refused.message).toContain("9007199254740993");
    });

    test("watch() tells of the changes after a resourceVersion, in order", async () => {
      await freshNamespace();
      const { metadata } = await client.list(configMaps, { namespace });
      const created = await client.create(configMaps, configMap("a", { x: "1" }));
      await client.update(configMaps, { ...created, data: { x: "2" } });
      await client.delete(configMaps, { namespace, name: "a" });
      const { resourceVersion } = metadata;
      const seen = await take(client.watch(configMaps, { namespace, resourceVersion }), 3);
      expect(seen.map(briefly)).toEqual(["ADDED a 1", "MODIFIED a 2", "DELETED a 2"]);
    });

    test("watch() sends the state first where it is asked for, and says where it ends", async () => {
      await freshNamespace();
      for (const of of ["a", "b"]) await client.create(configMaps, configMap(of));
      const options = {
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: true,
      } as const;
      const seen = await take(client.watch(configMaps, { namespace, ...options }), 3);
      expect(seen.map(({ type }) => type)).toEqual(["ADDED", "ADDED", "BOOKMARK"]);
      expect(seen[2]).toMatchObject({ endsInitialEvents: true, resourceVersion: expect.stringMatching(/^\d+$/) });
    });

    test("watch() ends when its time is up", async () => {
      await freshNamespace();
      const { resourceVersion } = (await client.list(configMaps, { namespace })).metadata;
      const seen = await Array.fromAsync(client.watch(configMaps, { namespace, resourceVersion, timeoutSeconds: 1 }));
      expect(seen).toEqual([]);
    });

    test("a watch from a revision that is to come is refused with a Status", async () => {
      await freshNamespace();
      const ahead = client.watch(configMaps, { namespace, resourceVersion: "not a number" });
      expect(await refusal(ahead.next())).toBeInstanceOf(StatusError);
    });

    test("a signal ends a request and a watch with its reason", async () => {
      await freshNamespace();
      const stop = new AbortController();
      const watch = client.watch(configMaps, { namespace, resourceVersion: "1", signal: stop.signal });
      await client.create(configMaps, configMap("a"));
      await watch.next();
      const reason = new Error("enough");
      const next = (async () => {
        for await (const _ of watch);
      })();
      stop.abort(reason);
      expect(await next.catch((error: unknown) => error)).toBe(reason);
      const late = client.list(configMaps, { signal: stop.signal });
      expect(await late.catch((error: unknown) => error)).toBe(reason);
    });

    test("leaving the loop ends the watch, and others go on", async () => {
      await freshNamespace();
      const { resourceVersion } = (await client.list(configMaps, { namespace })).metadata;
      const [left, kept] = [0, 1].map(() => client.watch(configMaps, { namespace, resourceVersion }));
      await client.create(configMaps, configMap("a"));
      for await (const _ of left as NonNullable<typeof left>) break;
      await client.create(configMaps, configMap("b"));
      expect((await take(kept as NonNullable<typeof kept>, 2)).map(briefly)).toEqual(["ADDED a ", "ADDED b "]);
    });

    test("an informer holds what the server has", async () => {
      await freshNamespace();
      for (const of of ["a", "b"]) await client.create(configMaps, configMap(of, { x: "1" }));
      const told: string[] = [];
      const enough = Promise.withResolvers<void>();
      const tell = (word: string) => (object: ConfigMap) => {
        told.push(`${word} ${object.metadata.name} ${object.data?.["x"] ?? ""}`);
        if (told.length === 5) enough.resolve();
      };
      using informer = new Informer({
        client,
        type: configMaps,
        selector: { namespace },
        clock: systemClock,
        random: Math.random,
        added: tell("added"),
        updated: tell("updated"),
        deleted: tell("deleted"),
        onError: enough.reject,
      });
      await informer.synced;
      expect(told).toEqual(["added a 1", "added b 1"]);
      await client.create(configMaps, configMap("c", { x: "1" }));
      await client.update(configMaps, configMap("a", { x: "2" }));
      await client.delete(configMaps, { namespace, name: "b" });
      await enough.promise;
      expect(told.slice(2)).toEqual(["added c 1", "updated a 2", "deleted b 1"]);
      const { items } = await client.list(configMaps, { namespace });
      expect([...informer.objects()].toSorted(byName)).toEqual([...items]);
    });

    test("a watch that nobody reads holds up nothing and loses nothing", async () => {
      await freshNamespace();
      const count = 40;
      const { resourceVersion } = (await client.list(configMaps, { namespace })).metadata;
      const watch = client.watch(configMaps, { namespace, resourceVersion });
      const first = watch.next();
      const data = { text: "x".repeat(100_000) };
      for (let at = 0; at < count; at++) await client.create(configMaps, configMap(`large-${at}`, data));
      await first;
      const rest = await take(watch, count - 1);
      expect(rest.map(({ type }) => type)).toEqual(Array.from({ length: count - 1 }, () => "ADDED"));
    });
  });
}

async function take<T extends KubeObject>(watch: AsyncGenerator<WatchEvent<T>, void>, count: number) {
  const events: WatchEvent<T>[] = [];
  for await (const event of watch) if (events.push(event) === count) break;
  return events;
}

function byName(a: KubeObject, b: KubeObject): number {
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

function briefly(event: WatchEvent<ConfigMap>): string {
  if (event.type === "BOOKMARK") return "BOOKMARK";
  return `${event.type} ${event.object.metadata.name} ${event.object.data?.["x"] ?? ""}`;
}

async function refusal(attempt: Promise<unknown>): Promise<StatusError> {
  const error = await attempt.then(
    () => new Error("it was not refused"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof StatusError)) throw error;
  return error;
}
