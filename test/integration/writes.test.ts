import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { configMap, jsonPatch, mergePatch, pod, strategicPatch, TestServer } from "./server.ts";

let server: TestServer;
let namespace: string;
let maps: string;
let pods: string;
beforeAll(async () => {
  server = await TestServer.start();
  namespace = await server.namespace();
  maps = `/api/v1/namespaces/${namespace}/configmaps`;
  pods = `/api/v1/namespaces/${namespace}/pods`;
});
afterAll(() => server.close());

const bodyBytesMax = 3 * 1024 * 1024;

describe("create", () => {
  test("sets the system's fields and drops values that clients may not set", async () => {
    const body = configMap("filled", { data: { x: "1" } });
    Object.assign(body.metadata, {
      uid: "mine",
      creationTimestamp: "2001-01-01T00:00:00Z",
      selfLink: "/x",
      deletionTimestamp: "2001-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 5,
    });
    const { code, json } = await server.post(maps, body);
    expect(code).toBe(201);
    const { metadata } = json;
    expect(metadata.namespace).toBe(namespace);
    expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(Date.now() - Date.parse(metadata.creationTimestamp)).toBeLessThan(60_000);
    expect(metadata).not.toContainAnyKeys(["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"]);
    expect(metadata.managedFields).toEqual([
      {
        manager: "integration-test",
        operation: "Update",
        apiVersion: "v1",
        time: metadata.creationTimestamp,
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": { ".": {}, "f:x": {} } },
      },
    ]);
  });

  test("of an existing name is AlreadyExists", async () => {
    await server.create(maps, configMap("twice"));
    const { code, json } = await server.post(maps, configMap("twice"));
    expect({ code, reason: json.reason, message: json.message, details: json.details }).toEqual({
      code: 409,
      reason: "AlreadyExists",
      message: 'configmaps "twice" already exists',
      details: { name: "twice", kind: "configmaps" },
    });
  });

  test("makes up a name of 63 characters at most", async () => {
    const { metadata } = await server.create(maps, { metadata: { generateName: "a".repeat(80) } });
    expect(metadata.name).toMatch(/^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(metadata.generateName).toHaveLength(80);
    const named = await server.create(maps, { metadata: { generateName: "x-", name: "wins" } });
    expect(named.metadata).toMatchObject({ name: "wins", generateName: "x-" });
  });

  test("of a pod starts at generation 1 without the client's status", async () => {
    const made = await server.create(pods, { ...pod("status"), status: { phase: "Running", podIP: "10.0.0.1" } });
    expect(made.status.phase).toBe("Pending");
    expect(made.status.podIP).toBeUndefined();
    expect(made.metadata.generation).toBe(1);
    expect(made.spec.restartPolicy).toBe("Always");
  });

  test.each<[what: string, body: unknown, code: number, message: string]>([
    ["another namespace", { metadata: { name: "x", namespace: "other" } }, 400, "the namespace of the provided object"],
    [
      "another version",
      { ...configMap("x"), apiVersion: "v2" },
      400,
      'no kind "ConfigMap" is registered for version "v2"',
    ],
    ["another kind", { ...configMap("x"), kind: "Secret" }, 400, "converting (v1.Secret) to (core.ConfigMap): unknown"],
    ["no name", {}, 422, "metadata.name: Required value: name or generateName is required"],
    [
      "a resourceVersion",
      configMap("x", { resourceVersion: "5" }),
      500,
      "resourceVersion should not be set on objects",
    ],
    ["a bad name", configMap("No_Good"), 422, 'ConfigMap "No_Good" is invalid: metadata.name: Invalid value'],
    ["a bad label", configMap("x", { labels: { a: "b c" } }), 422, "metadata.labels: Invalid value"],
    ["a wrong type", { ...configMap("x"), data: { a: 5 } }, 400, 'ConfigMap in version "v1" cannot be handled'],
    ["no JSON", "{", 400, ""],
    ["nothing", "", 400, ""],
    ["a list", "[]", 400, ""],
  ])("with %s is refused", async (_what, body, code, message) => {
    const answer = await server.post(maps, body);
    expect({ code: answer.code, kind: answer.json.kind }).toEqual({ code, kind: "Status" });
    expect(answer.json.message).toContain(message);
  });

  test.each([
    [{ name: "a" }, "a"],
    [{ generateName: "a-" }, "a-"],
    [{}, "Unknown"],
  ])("with metadata %j is refused by admission as %s", async (metadata, name) => {
    const { code, json } = await server.post(pods, { metadata, spec: { serviceAccountName: "absent" } });
    expect(code).toBe(403);
    expect(json.message).toStartWith(`pods "${name}" is forbidden: error looking up service account`);
  });

  test("in a missing namespace is NotFound", async () => {
    const { code, json } = await server.post("/api/v1/namespaces/nowhere/configmaps", configMap("x"));
    expect({ code, message: json.message, details: json.details }).toEqual({
      code: 404,
      message: 'namespaces "nowhere" not found',
      details: { name: "nowhere", kind: "namespaces" },
    });
  });

  test("of a body beyond the limit is too large", async () => {
    const { code, json } = await server.post(maps, configMap("big", { data: { x: "x".repeat(bodyBytesMax) } }));
    expect({ code, reason: json.reason, message: json.message }).toEqual({
      code: 413,
      reason: "RequestEntityTooLarge",
      message: `Request entity too large: limit is ${bodyBytesMax}`,
    });
  });
});

describe("update", () => {
  test("with a stale resourceVersion is a conflict, without one it is not", async () => {
    const old = await server.create(maps, configMap("guarded"));
    await server.put(`${maps}/guarded`, configMap("guarded", { data: { x: "1" } }));
    const stale = await server.put(`${maps}/guarded`, { ...old, data: { x: "2" } });
    expect({ code: stale.code, message: stale.json.message, details: stale.json.details }).toEqual({
      code: 409,
      message:
        'Operation cannot be fulfilled on configmaps "guarded": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: "guarded", kind: "configmaps" },
    });
    const free = await server.put(`${maps}/guarded`, configMap("guarded", { data: { x: "3" } }));
    expect(free.code).toBe(200);
    expect(free.json.metadata.uid).toBe(old.metadata.uid);
  });

  test("that changes nothing keeps the resourceVersion", async () => {
    const made = await server.create(maps, configMap("same", { data: { x: "1" } }));
    const { code, json } = await server.put(`${maps}/same`, made);
    expect(code).toBe(200);
    expect(json).toEqual(made);
    const { resourceVersion } = (await server.patch(`${maps}/same`, mergePatch, { data: { x: "1" } })).json.metadata;
    expect(resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("of another uid is a conflict", async () => {
    await server.create(maps, configMap("uid"));
    const { code, json } = await server.put(`${maps}/uid`, configMap("uid", { uid: "other" }));
    expect({ code, reason: json.reason }).toEqual({ code: 409, reason: "Conflict" });
    expect(json.message).toContain("Precondition failed: UID in precondition: other, UID in object meta: ");
  });

  test.each<[what: string, body: any, code: number, message: string]>([
    ["no name", { metadata: {} }, 400, "the name of the object (named based on URL) was undeterminable"],
    ["another name", configMap("b"), 400, "the name of the object (b) does not match the name on the URL (named)"],
    ["another namespace", configMap("named", { namespace: "x" }), 400, "the namespace of the provided object does not"],
  ])("with %s is refused", async (_what, body, code, message) => {
    const answer = await server.put(`${maps}/named`, body);
    expect(answer.code).toBe(code);
    expect(answer.json.message).toContain(message);
  });

  test.each([
    ["a%25b", {}, "the name of the object (a%b based on URL) was undeterminable: name must be provided"],
    ["a%25b", configMap("a%b"), "Name parameter invalid: \"a%b\": may not contain '%'"],
  ])("at the impossible name %s is refused for its body first", async (name, body, message) => {
    const { code, json } = await server.put(`${maps}/${name}`, body);
    expect({ code, message: json.message }).toEqual({ code: 400, message });
  });

  test("of a missing object is NotFound, or creates it where the kind allows that", async () => {
    expect((await server.put(`${maps}/missing`, configMap("missing"))).code).toBe(404);
    const lease = { metadata: { name: "new" }, spec: { holderIdentity: "me" } };
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/new`;
    expect((await server.put(path, lease)).code).toBe(201);
    const { code, json } = await server.put(path, { ...lease, spec: { holderIdentity: "you" } });
    expect(code).toBe(422);
    expect(json.message).toContain("metadata.resourceVersion: Invalid value: 0");
    expect(json.message).toContain("must be specified for an update");
  });

  test("of an immutable config map is refused", async () => {
    await server.create(maps, { ...configMap("frozen", { data: { x: "1" } }), immutable: true });
    const { code, json } = await server.patch(`${maps}/frozen`, mergePatch, { data: { x: "2" } });
    expect(code).toBe(422);
    expect(json.message).toContain("field is immutable when `immutable` is set");
  });

  test("of the status changes nothing else, and of the rest not the status", async () => {
    const made = await server.create(pods, pod("split"));
    const { code, json } = await server.put(`${pods}/split/status`, {
      ...made,
      spec: { ...made.spec, containers: [{ name: "main", image: "example.com/other:2" }] },
      status: { ...made.status, phase: "Running" },
    });
    expect(code).toBe(200);
    expect(json.status.phase).toBe("Running");
    expect(json.spec).toEqual(made.spec);
    expect(json.metadata.generation).toBe(1);
    expect(json.metadata.managedFields.map(({ subresource }: any) => subresource)).toContain("status");

    const back = await server.patch(`${pods}/split`, mergePatch, {
      spec: { containers: [{ ...made.spec.containers[0], image: "example.com/other:3" }] },
      status: { phase: "Failed" },
    });
    expect(back.json.status.phase).toBe("Running");
    expect(back.json.spec.containers[0].image).toBe("example.com/other:3");
    expect(back.json.metadata.generation).toBe(2);
  });
});

describe("patch", () => {
  test.each<[type: string, patch: unknown, data: Record<string, string>]>([
    [mergePatch, { data: { a: null, c: "3" } }, { b: "2", c: "3" }],
    [strategicPatch, { data: { a: null, c: "3" } }, { b: "2", c: "3" }],
    [strategicPatch, { data: { $patch: "replace", c: "3" } }, { c: "3" }],
    [
      jsonPatch,
      [
        { op: "test", path: "/data/a", value: "1" },
        { op: "remove", path: "/data/a" },
        { op: "add", path: "/data/c", value: "3" },
      ],
      { b: "2", c: "3" },
    ],
    [`${mergePatch}; charset=utf-8`, {}, { a: "1", b: "2" }],
  ])("as %s of %j gives %j", async (type, patch, data) => {
    const { metadata } = await server.create(maps, {
      metadata: { generateName: "p-" },
      data: { a: "1", b: "2" },
    });
    const { code, json } = await server.patch(`${maps}/${metadata.name}`, type, patch);
    expect({ code, data: json.data }).toEqual({ code: 200, data });
  });

  test("merges lists by their key when it is strategic", async () => {
    await server.create(
      pods,
      pod("merged", {
        containers: [
          { name: "a", image: "a:1" },
          { name: "b", image: "b:1" },
        ],
      }),
    );
    const { json } = await server.patch(`${pods}/merged`, strategicPatch, {
      spec: { containers: [{ name: "b", image: "b:2" }] },
    });
    expect(json.spec.containers.map(({ name, image }: any) => `${name} ${image}`)).toEqual(["a a:1", "b b:2"]);
  });

  test.each<[what: string, type: string, patch: unknown, code: number, message: string]>([
    [
      "a failing test",
      jsonPatch,
      [{ op: "test", path: "/data/a", value: "2" }],
      422,
      "the server rejected our request",
    ],
    ["a missing path", jsonPatch, [{ op: "remove", path: "/data/zz" }], 422, "the server rejected our request"],
    ["no array", jsonPatch, { op: "remove" }, 400, ""],
    ["no JSON", mergePatch, "{", 400, "error decoding patch"],
    ["no object", mergePatch, "[]", 400, "error decoding patch"],
    [
      "another type",
      mergePatch,
      { kind: "Secret" },
      400,
      "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
    ],
    ["another name", mergePatch, { metadata: { name: "other" } }, 400, "does not match the name on the URL"],
    ["a wrong type", mergePatch, { data: { a: 5 } }, 400, "cannot unmarshal number into Go struct field"],
    ["a stale version", mergePatch, { metadata: { resourceVersion: "1" } }, 409, "the object has been modified"],
    ["another uid", mergePatch, { metadata: { uid: "x" } }, 422, "field is immutable"],
    ["an unknown media type", "application/json", {}, 415, "415: Unsupported Media Type"],
  ])("with %s is refused", async (_what, type, patch, code, message) => {
    const { metadata } = await server.create(maps, { metadata: { generateName: "bad-" }, data: { a: "1" } });
    const answer = await server.patch(`${maps}/${metadata.name}`, type, patch);
    expect({ code: answer.code, kind: answer.json.kind }).toEqual({ code, kind: "Status" });
    expect(answer.json.message).toContain(message);
    expect((await server.get(`${maps}/${metadata.name}`)).json.data).toEqual({ a: "1" });
  });

  test("with more than 10 000 operations is too large", async () => {
    await server.create(maps, configMap("many"));
    const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "ConfigMap" }));
    expect((await server.patch(`${maps}/many`, jsonPatch, operations)).code).toBe(413);
  });

  test.each([
    [mergePatch, {}],
    [mergePatch, "{"],
    [strategicPatch, ""],
    [jsonPatch, "["],
  ])("(%s) of a missing object is NotFound, even if it is %j", async (type, patch) => {
    expect((await server.patch(`${maps}/nobody`, type, patch)).code).toBe(404);
  });

  test("loses no update when many patch at once", async () => {
    await server.create(maps, configMap("busy"));
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => server.patch(`${maps}/busy`, mergePatch, { data: { [`k${at}`]: "x" } })),
    );
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 200));
    expect(Object.keys((await server.get(`${maps}/busy`)).json.data)).toHaveLength(30);
  });
});

describe("field validation", () => {
  const unknown = { ...configMap("fields"), metadata: { name: "fields", nmae: "x" }, datum: {} };
  test.each([
    ["", ['299 - "unknown field \\"metadata.nmae\\""', '299 - "unknown field \\"datum\\""']],
    ["Warn", ['299 - "unknown field \\"metadata.nmae\\""', '299 - "unknown field \\"datum\\""']],
    ["Ignore", []],
  ])("%p drops unknown fields with the warnings %j", async (mode, warnings) => {
    const { code, json, headers } = await server.post(`${maps}?dryRun=All&fieldValidation=${mode}`, unknown);
    expect(code).toBe(201);
    expect(json.datum).toBeUndefined();
    const text = headers.get("warning") ?? "";
    for (const warning of warnings) expect(text).toContain(warning);
    if (warnings.length === 0) expect(text).toBe("");
  });

  test.each([
    [mergePatch, { zone: 1, metadata: { zone: 1, area: 1 }, area: 1 }],
    [jsonPatch, ["/zone", "/metadata/zone", "/metadata/area", "/area"].map((path) => ({ op: "add", path, value: 1 }))],
  ])("a %s names unknown fields in the order of their names", async (type, patch) => {
    await server.post(maps, configMap("ordered"));
    const { json } = await server.patch(`${maps}/ordered?fieldValidation=Strict`, type, patch);
    expect(json.message.match(/unknown field "[a-z.]+"/g)).toEqual([
      'unknown field "area"',
      'unknown field "metadata.area"',
      'unknown field "metadata.zone"',
      'unknown field "zone"',
    ]);
  });

  test("Strict refuses unknown and duplicate fields", async () => {
    const body = '{"metadata":{"name":"x"},"datum":{},"data":{"a":"1"},"data":{"a":"2"}}';
    const { code, json } = await server.post(`${maps}?fieldValidation=Strict`, body);
    expect(code).toBe(400);
    expect(json.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datum", duplicate field "data"',
    );
  });

  test("an unknown field is not also a duplicate, and neither is its content", async () => {
    const body = '{"metadata":{"name":"x"},"datum":{"a":1,"a":2},"datum":{}}';
    const { json } = await server.post(`${maps}?fieldValidation=Strict`, body);
    expect(json.message).toEndWith('strict decoding error: unknown field "datum"');
  });

  test("Strict holds for patches too", async () => {
    await server.create(maps, configMap("strict"));
    const path = `${maps}/strict?fieldValidation=`;
    const strict = await server.patch(`${path}Strict`, mergePatch, { datum: {} });
    expect({ code: strict.code, details: Object.keys(strict.json.details) }).toEqual({
      code: 400,
      details: ["causes"],
    });
    expect(strict.json.message).toMatch(
      /^ "" is invalid: patch: Invalid value: "\{.*\}": strict decoding error: unknown field "datum"$/,
    );
    expect(strict.json.details.causes[0]).toMatchObject({ reason: "FieldValueInvalid", field: "patch" });
    const twice = await server.patch(
      `${path}Strict`,
      strategicPatch,
      '{"data":{"a":"1"},"datum":{"b":[1,null]},"data":{"a":"2"}}',
    );
    expect(twice.json.message).toBe(
      ' "" is invalid: patch: Invalid value: "map[data:map[a:2] datum:map[b:[1 <nil>]]]": strict decoding error: duplicate field "data", unknown field "datum"',
    );
    const operations = '[{"op":"add","path":"/datum","value":{},"foo":1,"path":"/datum"}]';
    const operated = await server.patch(`${path}Strict`, jsonPatch, operations);
    expect(operated.json.message).toEndWith(
      'strict decoding error: json patch unknown field "[0].foo", json patch duplicate field "[0].path", unknown field "datum"',
    );
    const warned = await server.patch(`${path}Warn`, mergePatch, { datum: {} });
    expect(warned.code).toBe(200);
    expect(warned.headers.get("warning")).toBe('299 - "unknown field \\"datum\\""');
  });

  test.each([
    ["fieldValidation=x", 'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'],
    ["dryRun=x", 'dryRun: Unsupported value: ["x"]: supported values: "All"'],
    [`fieldManager=${"m".repeat(129)}`, "fieldManager: Too long: may not be more than 128 bytes"],
  ])("?%s is refused as invalid options", async (query, message) => {
    const { code, json } = await server.post(`${maps}?${query}`, configMap("options"));
    expect(code).toBe(422);
    expect(json.message).toBe(`CreateOptions.meta.k8s.io "" is invalid: ${message}`);
  });
});

describe("a dry run", () => {
  test("answers as the real request would and stores nothing", async () => {
    await server.create(maps, configMap("kept", { data: { x: "1" } }));
    const stored = async () => (await server.get(maps)).json.items;
    const before = await stored();
    const created = await server.post(`${maps}?dryRun=All`, configMap("dry"));
    expect(created.code).toBe(201);
    expect(created.json.metadata.uid).toBeString();
    expect(created.json.metadata.resourceVersion).toBeUndefined();
    expect((await server.post(`${maps}?dryRun=All`, configMap("kept"))).code).toBe(409);
    const put = await server.put(`${maps}/kept?dryRun=All`, configMap("kept", { data: { x: "2" } }));
    expect({ code: put.code, data: put.json.data }).toEqual({ code: 200, data: { x: "2" } });
    const patched = await server.patch(`${maps}/kept?dryRun=All`, mergePatch, { data: { x: "3" } });
    expect({ code: patched.code, data: patched.json.data }).toEqual({ code: 200, data: { x: "3" } });
    expect((await server.delete(`${maps}/kept?dryRun=All`)).code).toBe(200);
    expect((await server.delete(`${maps}/kept`, { dryRun: ["All"] })).code).toBe(200);
    expect((await server.delete(`${maps}?dryRun=All`)).code).toBe(200);
    expect(await stored()).toEqual(before);
    expect(before.find(({ metadata }: any) => metadata.name === "kept").data).toEqual({ x: "1" });
  });
});
