import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { apiVersionOf } from "../../src/api/gvk.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { minimalObjects } from "./minimal-objects.ts";
import { TestServer } from "./server.ts";

const scheme = Scheme.builtIn();
const metric = "apiserver_validation_declarative_validation_mismatch_total";

async function mismatches(server: TestServer): Promise<number> {
  const { text } = await server.get("/metrics");
  const line = text.split("\n").find((each) => each.startsWith(`${metric} `));
  return Number(line?.slice(metric.length));
}

describe.each([false, true])("with takeover %p", (takeover) => {
  let server: TestServer;
  let namespace: string;
  beforeAll(async () => {
    server = await TestServer.start({ featureGates: { DeclarativeValidationTakeover: takeover } });
    namespace = await server.namespace();
  });
  afterAll(() => server.close());

  test("a valid object of every kind has no problem, whichever rules are asked", async () => {
    const minimal = await minimalObjects(namespace);
    for (const info of scheme.stored) {
      const { name = "test", fields = {} } = minimal[`${info.group}/${info.kind}`] ?? {};
      const root = `${info.group === "" ? "/api" : "/apis"}/${apiVersionOf(info)}`;
      const path = `${root}${info.namespaced ? `/namespaces/${namespace}` : ""}/${info.resource}?dryRun=All`;
      const { code, json } = await server.post(path, { metadata: { name }, ...fields });
      expect({ kind: info.kind, code, message: code === 201 ? "" : json.message }).toEqual({
        kind: info.kind,
        code: 201,
        message: "",
      });
    }
    expect(await mismatches(server)).toBe(0);
  });

  test("an invalid object is refused with the same reasons for the same fields", async () => {
    const addresses = Array.from({ length: 101 }, (_, at) => `192.0.2.${at}`);
    const slice = { metadata: { name: "s" }, addressType: "IPv4", endpoints: [{ addresses }] };
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    const { code, json } = await server.post(path, slice);
    expect(code).toBe(422);
    expect(json.details.causes.map(({ field, reason }: any) => `${reason} ${field}`)).toContain(
      "FieldValueTooMany endpoints[0].addresses",
    );
    const handler = { metadata: { name: "r" }, handler: "Not_A_Name" };
    const refused = await server.post("/apis/node.k8s.io/v1/runtimeclasses", handler);
    expect(refused.json.details.causes.map(({ field, reason }: any) => `${reason} ${field}`)).toEqual([
      "FieldValueInvalid handler",
    ]);
  });
});
