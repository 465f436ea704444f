import { expect, test } from "bun:test";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { DiscoveredResource, DiscoveredVersion } from "../../client/aggregation/discovered-version.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { NamespaceContent } from "../namespace-content.ts";
import { addUndiscovered, emptyAggregated } from "./empty-aggregated.ts";

function resource(name: string, ...verbs: string[]): DiscoveredResource {
  const responseKind = { group: "", version: "", kind: "" };
  const rest = { singularResource: "", shortNames: [], categories: [], subresources: [] };
  return { resource: name, responseKind, scope: "Namespaced", verbs, ...rest };
}

function version(
  apiVersion: string,
  freshness: DiscoveredVersion["freshness"],
  ...resources: DiscoveredResource[]
): DiscoveredVersion {
  const [group, name] = apiVersion.split("/") as [string, string];
  return { group, version: name, freshness, resources };
}

/** An extension server with objects by resource. Those of `kept` wait for a finalizer. */
class FakeServer {
  readonly calls: string[] = [];
  readonly objects: Map<string, Set<string>>;
  readonly kept = new Set<string>();
  failure: unknown;

  constructor(objects: Record<string, string[]>) {
    this.objects = new Map(Object.entries(objects).map(([type, names]) => [type, new Set(names)]));
  }

  readonly client = {
    list: async ({ resource: of }: ResourceType) => {
      this.#called("list", of);
      const items = [...(this.objects.get(of) ?? [])].map((name) => ({
        metadata: { name, ...(this.kept.has(name) ? { finalizers: ["x/y"] } : {}) },
      }));
      return { metadata: { resourceVersion: "1" }, items };
    },
    delete: async ({ resource: of }: ResourceType, { name }: { name: string }) => {
      this.#called("delete", `${of}/${name}`);
      this.#remove(of, name);
      return {} as KubeObject;
    },
    deleteCollection: async ({ resource: of }: ResourceType) => {
      this.#called("deletecollection", of);
      for (const name of this.objects.get(of) ?? []) this.#remove(of, name);
      return { metadata: { resourceVersion: "1" }, items: [] };
    },
  } as unknown as Pick<Client, "list" | "delete" | "deleteCollection">;

  #called(verb: string, what: string): void {
    this.calls.push(`${verb} ${what}`);
    if (this.failure !== undefined) throw this.failure;
  }

  #remove(of: string, name: string): void {
    if (!this.kept.has(name)) this.objects.get(of)?.delete(name);
  }
}

async function empty(server: FakeServer, ...versions: DiscoveredVersion[]): Promise<NamespaceContent> {
  const content = new NamespaceContent();
  const discovered = { versions: () => versions, follow: () => ({ [Symbol.dispose]() {} }) };
  addUndiscovered({ versions: discovered }, content);
  await emptyAggregated({ versions: discovered, client: server.client }, "n", content);
  return content;
}

test("a collection is deleted at once where the server can, otherwise object by object, in one version", async () => {
  const server = new FakeServer({ many: ["a", "b"], single: ["c", "d"] });
  const resources = [resource("many", "delete", "deletecollection", "list"), resource("single", "delete", "list")];
  const content = await empty(
    server,
    version("g/v1", "Current", ...resources, resource("readonly", "get", "list")),
    version("g/v2", "Current", ...resources),
  );
  expect(server.calls).toEqual([
    "deletecollection many",
    "list many",
    "list single",
    "delete single/c",
    "delete single/d",
    "list single",
  ]);
  expect(content.isEmpty).toBe(true);
});

test("resources of the cluster, and those that cannot be deleted, are left alone", async () => {
  const server = new FakeServer({});
  const ofCluster = { ...resource("wide", "delete", "list"), scope: "Cluster" } as const;
  await empty(server, version("g/v1", "Current", ofCluster, resource("metrics", "get", "list")));
  expect(server.calls).toEqual([]);
});

test("objects that remain are counted with their finalizers", async () => {
  const server = new FakeServer({ single: ["c", "d"] });
  server.kept.add("d");
  const content = await empty(server, version("g/v1", "Current", resource("single", "delete", "list")));
  expect([content.objects, content.finalizers]).toEqual([
    "single.g has 1 resource instances",
    "x/y in 1 resource instances",
  ]);
});

test("a group version that cannot be read keeps the namespace, with upstream's message", async () => {
  const content = await empty(
    new FakeServer({}),
    version("b.example/v1", "Stale", resource("single", "delete", "list")),
    version("a.example/v1", "Pending"),
  );
  expect(content.isEmpty).toBe(false);
  expect(content.hasObjects).toBe(false);
  expect(content.undiscovered).toBe(
    "2 failing: unable to retrieve the complete list of server APIs: a.example/v1: stale GroupVersion discovery: " +
      "a.example/v1, b.example/v1: stale GroupVersion discovery: b.example/v1",
  );
});

test("a server that fails keeps the namespace, and no other server from being emptied", async () => {
  const server = new FakeServer({ single: ["c"] });
  server.failure = status.serviceUnavailable("the server is currently unable to handle the request");
  const verbs = ["delete", "list"];
  const content = await empty(
    server,
    version("g/v1", "Current", resource("first", ...verbs), resource("second", ...verbs)),
  );
  expect(server.calls).toEqual(["list first", "list second"]);
  expect(content.failures).toContain("2 remaining: the server is currently unable to handle the request");
});

test("a verb that the server does not have after all is skipped", async () => {
  const server = new FakeServer({ single: ["c"] });
  server.failure = status.methodNotAllowed();
  const content = await empty(
    server,
    version("g/v1", "Current", resource("many", "delete", "deletecollection", "list")),
  );
  expect([server.calls, content.isEmpty]).toEqual([["deletecollection many", "list many", "list many"], true]);
});
