import { afterAll, beforeAll, expect, test } from "bun:test";
import { apiVersionOf } from "../../src/api/gvk.ts";
import type { StructSchema } from "../../src/api/schema/schema.ts";
import { structOf } from "../../src/api/scheme/object-form.ts";
import type { ResourceInfo } from "../../src/api/scheme/resource.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { type MinimalObject, minimalObjects } from "./minimal-objects.ts";
import { TestServer } from "./server.ts";

const scheme = Scheme.builtIn();
/** Kinds with conditions in their status, which are most kinds. */
const kinds = scheme.resources.filter(
  (info) => info.subresources.has("status") && statusOf(info)?.fields.has("conditions") === true,
);
/** Objects that components create with their status. */
const createdWithStatus = new Set(["Node"]);
const condition = {
  type: "Tested",
  status: "True",
  reason: "Tested",
  message: "",
  lastTransitionTime: "2030-01-01T00:00:00Z",
};

let server: TestServer;
let namespace: string;
let minimal: Readonly<Record<string, MinimalObject>>;
beforeAll(async () => {
  server = await TestServer.start();
  namespace = await server.namespace();
  minimal = await minimalObjects(namespace);
});
afterAll(() => server.close());

test.each(kinds.map((info) => [`${apiVersionOf(info)} ${info.kind}`, info] as const))(
  "%s: status and the rest are written apart",
  async (_, info) => {
    const { fields = {}, metadata = {}, name = "split" } = minimal[`${info.group}/${info.kind}`] ?? {};
    const root = `${info.group === "" ? "/api" : "/apis"}/${apiVersionOf(info)}`;
    const collection = `${root}${info.namespaced ? `/namespaces/${namespace}` : ""}/${info.resource}`;
    const path = `${collection}/${name}`;
    const withStatus = { ...fields, metadata: { ...metadata, name }, status: { conditions: [condition] } };

    const created = await server.create(collection, withStatus);
    if (!createdWithStatus.has(info.kind)) expect(typesOf(created)).not.toContain("Tested");
    const { spec } = created;

    const byMain = await changed(path, path, (now) => ({
      ...now,
      metadata: { ...now.metadata, labels: { ...now.metadata.labels, a: "b" } },
      status: { conditions: [{ ...condition, type: "Main" }] },
    }));
    expect(byMain.metadata.labels).toMatchObject({ a: "b" });
    expect(typesOf(byMain)).not.toContain("Main");

    const byStatus = await changed(path, `${path}/status`, (now) => ({
      ...now,
      spec: {},
      status: { ...now.status, conditions: [...(now.status?.conditions ?? []), { ...condition, type: "Status" }] },
    }));
    expect(typesOf(byStatus)).toContain("Status");
    expect(byStatus.spec).toEqual(spec);
    expect(byStatus.metadata.generation).toBe(created.metadata.generation);
  },
);

/** Reads and writes again until no controller interferes. */
async function changed(path: string, target: string, change: (now: any) => unknown): Promise<any> {
  for (;;) {
    const { code, json } = await server.put(target, change((await server.get(path)).json));
    if (code === 409) continue;
    expect({ code, message: json.message }).toEqual({ code: 200, message: undefined });
    return json;
  }
}

function typesOf(object: { status?: { conditions?: { type: string }[] } }): string[] {
  return (object.status?.conditions ?? []).map(({ type }) => type);
}

function statusOf(info: ResourceInfo): StructSchema | undefined {
  const status = structOf(info).fields.get("status")?.schema;
  return status?.kind === "struct" ? status : undefined;
}
