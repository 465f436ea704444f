import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pod, protobuf, TestServer } from "./server.ts";

let server: TestServer;
let root: string;
let eviction: string;
beforeAll(async () => {
  server = await TestServer.start();
  root = `/api/v1/namespaces/${await server.namespace()}`;
  eviction = `${root}/pods/held/eviction`;
  await server.create(`${root}/pods`, pod("held", {}, { finalizers: ["example.com/hold"] }));
});
afterAll(() => server.close());

const body = { metadata: { name: "held" } };
const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

describe("a body that is not stored", () => {
  test("is read in every representation, and its answer is written in the one that is asked for", async () => {
    const dry = `${eviction}?dryRun=All`;
    const yaml = await server.post(dry, "metadata: {name: held}", {
      type: "application/yaml",
      accept: "application/yaml",
    });
    expect({ code: yaml.code, type: yaml.headers.get("content-type") }).toEqual({
      code: 201,
      type: "application/yaml",
    });
    expect(yaml.text).toContain("status: Success\n");
    const encoded = await server.post(dry, body, { accept: protobuf });
    expect({ code: encoded.code, type: encoded.headers.get("content-type") }).toEqual({ code: 201, type: protobuf });
    expect([...encoded.bytes.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0x00]);
    expect((await server.post(dry, body, { accept: table })).code).toBe(406);
    expect((await server.post(dry, body, { accept: `${table},application/json` })).code).toBe(201);
  });

  test.each([
    ["?fieldValidation=Strict", { ...body, x: 1 }, 400, 'strict decoding error: unknown field "x"'],
    ["?dryRun=some", body, 422, 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["some"]'],
    ["", { ...body, kind: "Pod" }, 400, 'no kind "Pod" is registered for version "policy/v1"'],
    ["", { ...body, apiVersion: "v1" }, 400, 'no kind "Eviction" is registered for version "v1"'],
    [
      "",
      { metadata: { name: "held", namespace: "other" } },
      400,
      "the namespace of the provided object does not match",
    ],
    ["", { metadata: { name: 5 } }, 400, "cannot unmarshal number into Go struct field ObjectMeta.metadata.name"],
    ["", "", 400, "the object provided is unrecognized (must be of type Eviction)"],
  ])("%s %j is refused", async (query, given, code, message) => {
    const answer = await server.post(eviction + query, given);
    expect({ code: answer.code, message: answer.json.message }).toEqual({
      code,
      message: expect.stringContaining(message),
    });
  });

  test("warns of unknown fields as any other body does", async () => {
    const { code, headers } = await server.post(`${eviction}?dryRun=All`, { ...body, x: 1 });
    expect({ code, warning: headers.get("warning") }).toEqual({ code: 201, warning: '299 - "unknown field \\"x\\""' });
  });

  test("passes admission: nothing is done in a namespace that goes, and questions are answered all the same", async () => {
    const namespace = await server.namespace();
    const own = `/api/v1/namespaces/${namespace}`;
    await server.create(`${own}/pods`, pod("held", {}, { finalizers: ["example.com/hold"] }));
    await server.delete(own);
    const refused = await server.post(`${own}/pods/held/eviction`, body);
    expect({ code: refused.code, cause: refused.json.details.causes[0].reason }).toEqual({
      code: 403,
      cause: "NamespaceTerminating",
    });
    for (const where of [namespace, "nowhere"]) {
      const review = {
        metadata: { namespace: where },
        spec: {
          user: "u",
          groups: ["system:masters"],
          resourceAttributes: { namespace: where, verb: "get", resource: "pods" },
        },
      };
      const path = `/apis/authorization.k8s.io/v1/namespaces/${where}/localsubjectaccessreviews`;
      const { code, json } = await server.post(path, review);
      expect({ code, allowed: json.status?.allowed }).toEqual({ code: 201, allowed: true });
    }
  });

  test("is only posted, and an unknown action is not found", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const { code, json } = await server.request(method, eviction);
      expect({ code, message: json.message, reason: json.reason, details: json.details }).toEqual({
        code: 405,
        message: "the server does not allow this method on the requested resource",
        reason: "MethodNotAllowed",
        details: {},
      });
    }
    expect((await server.post(`${root}/pods/held/haircut`, {})).code).toBe(404);
  });
});
