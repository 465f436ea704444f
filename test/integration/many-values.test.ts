import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decodeCbor, encodeCbor } from "../../src/api/codec/cbor.ts";
import { encodeMessage, wrapUnknown } from "../../src/api/codec/protobuf.ts";
import { parseYaml, stringifyYaml } from "../../src/api/codec/yaml.ts";
import type { JsonObject } from "../../src/api/json.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { longestTurnMs } from "../longest-turn.ts";
import { jsonPatch, mergePatch, protobuf, strategicPatch, TestServer } from "./server.ts";

/**
 * Maximum CPU time of a turn. An idle machine needs a tenth of it. A body that is processed in one turn took from one
 * second to fifteen.
 */
const turnMsMax = 600;

const json = "application/json";
const yaml = "application/yaml";
const cbor = "application/cbor";
const pods = "/api/v1/namespaces/default/pods";
const configMaps = "/api/v1/namespaces/default/configmaps";
const patched = `${configMaps}/patched`;
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const metadata = { generateName: "many-" };
const scheme = Scheme.builtIn();

const list = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const key = (at: number) => at.toString(36).padStart(4, "k");
const keyed = <T>(count: number, value: T): Record<string, T> =>
  Object.fromEntries(list(count, (at) => [key(at), value]));
const text = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const pod = (containers: unknown) => ({ metadata, spec: { containers } });
const message = (kind: string, object: JsonObject) =>
  wrapUnknown({ apiVersion: "v1", kind }, encodeMessage(scheme.typeSchema(`core/v1.${kind}`), object));

interface Body {
  readonly name: string;
  /** `POST` by default. */
  readonly method?: string;
  readonly path: string;
  readonly type?: string;
  readonly make: () => Uint8Array;
}

const tooMany: readonly Body[] = [
  { name: "unknown fields, Ignore", path: `${reviews}?fieldValidation=Ignore`, make: () => text(keyed(280_000, 1)) },
  { name: "unknown fields, Strict", path: `${reviews}?fieldValidation=Strict`, make: () => text(keyed(280_000, 1)) },
  { name: "containers", path: pods, make: () => text(pod(list(60_000, (at) => ({ name: `c${at}` })))) },
  { name: "empty containers", path: pods, make: () => text(pod(list(900_000, () => ({})))) },
  { name: "containers, once they have defaults", path: pods, make: () => text(pod(list(60_000, () => ({})))) },
  { name: "keys of a map", path: configMaps, make: () => text({ metadata, data: keyed(240_000, "") }) },
  {
    name: "keys in YAML",
    path: configMaps,
    type: yaml,
    make: () => text(list(280_000, (at) => `${key(at)}: a\n`).join("")),
  },
  { name: "lists in YAML", path: configMaps, type: yaml, make: () => text(`x: [${"[],".repeat(900_000)}1]`) },
  { name: "keys in CBOR", path: configMaps, type: cbor, make: () => encodeCbor(keyed(250_000, 1)) },
  { name: "items in CBOR", path: configMaps, type: cbor, make: () => encodeCbor({ x: list(2_900_000, () => 1) }) },
  {
    name: "keys in protobuf",
    path: configMaps,
    type: protobuf,
    make: () => message("ConfigMap", { data: keyed(200_000, "") }),
  },
  {
    name: "items in protobuf",
    path: configMaps,
    type: protobuf,
    make: () => message("ConfigMap", { metadata: { finalizers: list(500_000, () => "") } }),
  },
  {
    name: "keys of a merge patch",
    method: "PATCH",
    path: patched,
    type: mergePatch,
    make: () => text(keyed(280_000, 1)),
  },
  {
    name: "keys of a strategic merge patch",
    method: "PATCH",
    path: patched,
    type: strategicPatch,
    make: () => text({ data: keyed(240_000, "") }),
  },
  {
    name: "what a JSON patch moves",
    method: "PATCH",
    path: patched,
    type: jsonPatch,
    make: () =>
      text(
        list(10_000, (at) =>
          at % 2 === 0
            ? { op: "move", from: "/data", path: "/binaryData" }
            : { op: "move", from: "/binaryData", path: "/data" },
        ),
      ),
  },
];

const large: readonly Body[] = [
  {
    name: "20,000 keys in JSON",
    path: configMaps,
    make: () => text({ metadata, data: keyed(20_000, "x".repeat(40)) }),
  },
  {
    name: "20,000 keys in YAML",
    path: configMaps,
    type: yaml,
    make: () => text(stringifyYaml({ metadata, data: keyed(20_000, "x".repeat(40)) })),
  },
  {
    name: "20,000 keys in protobuf",
    path: configMaps,
    type: protobuf,
    make: () => message("ConfigMap", { metadata, data: keyed(20_000, "x") }),
  },
  {
    name: "20,000 keys in CBOR",
    path: configMaps,
    type: cbor,
    make: () => encodeCbor({ metadata, data: keyed(20_000, "x") }),
  },
  {
    name: "1,000 containers",
    path: pods,
    make: () => {
      const env = list(8, (at) => ({ name: `E${at}`, value: "v" }));
      return text(pod(list(1_000, (at) => ({ name: `c${at}`, image: "example.com/a:1", env }))));
    },
  },
  {
    name: "1,000 endpoints",
    path: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    make: () =>
      text({
        metadata,
        addressType: "IPv4",
        endpoints: list(1_000, (at) => ({
          addresses: [`10.1.${at >> 8}.${at & 255}`],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: `node-${at}`,
          targetRef: { kind: "Pod", namespace: "default", name: `pod-${at}`, uid: `uid-${at}` },
          zone: "a",
        })),
      }),
  },
  {
    name: "a CRD of 1.5 MB",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    make: () => {
      const field = { type: "string", description: "What this field means, as usual in a definition of fields." };
      const part = { type: "object", properties: keyed(155, field) };
      const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
      const schema = { openAPIV3Schema: { type: "object", properties: keyed(100, part) } };
      const versions = [{ name: "v1", served: true, storage: true, schema }];
      return text({
        metadata: { name: "things.example.com" },
        spec: { group: "example.com", scope: "Namespaced", names, versions },
      });
    },
  },
  {
    name: "managedFields of 20,000 list items",
    path: configMaps,
    make: () => {
      const items = Object.fromEntries(list(20_000, (at) => [`k:{"name":"item-${at}"}`, { ".": {} }]));
      const fieldsV1 = { "f:spec": { "f:items": items } };
      const entry = { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 };
      return text({ metadata: { ...metadata, managedFields: [entry] } });
    },
  },
  {
    name: "a quota of 20,000 quantities",
    path: "/api/v1/namespaces/default/resourcequotas",
    make: () =>
      text({
        metadata,
        spec: { hard: Object.fromEntries(list(20_000, (at) => [`requests.example.com/r-${at}`, "1"])) },
      }),
  },
  {
    name: "20,000 keys that only our own JSON parser reads",
    path: configMaps,
    make: () => text(JSON.stringify({ metadata, data: keyed(20_000, "v") }).replaceAll('"v"', '"\\ud83d\\ude00"')),
  },
  {
    name: "a short patch of a large object",
    method: "PATCH",
    path: patched,
    type: jsonPatch,
    make: () => text([{ op: "add", path: "/data/more", value: "y" }]),
  },
];

describe("a body of many values holds the event loop for no long stretch", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ featureGates: { CBORServingAndStorage: true } });
    await server.create(configMaps, { metadata: { name: "patched" }, data: keyed(20_000, "x") });
  });
  afterAll(() => server.close());

  async function send({ method = "POST", path, type = json, make }: Body) {
    const body = make();
    expect(body.length).toBeLessThan(3 * 1024 * 1024);
    let answer: Awaited<ReturnType<TestServer["request"]>> | undefined;
    const turnMs = await longestTurnMs(async () => {
      answer = await server.request(method, path, { body, type });
    });
    return { code: answer?.code, json: answer?.json, turnMs };
  }

  test.each(tooMany.map((body) => [body.name, body] as const))("refused: %s", async (_name, body) => {
    const { code, json: answer, turnMs } = await send(body);
    expect({ code, kind: answer.kind, reason: answer.reason }).toEqual({
      code: 413,
      kind: "Status",
      reason: "RequestEntityTooLarge",
    });
    expect(turnMs).toBeLessThan(turnMsMax);
  });

  test.each(large.map((body) => [body.name, body] as const))("taken: %s", async (_name, body) => {
    const { code, json: answer, turnMs } = await send(body);
    expect({ code, message: answer.message }).toEqual({
      code: body.method === "PATCH" ? 200 : 201,
      message: undefined,
    });
    expect(turnMs).toBeLessThan(turnMsMax);
  });

  test("a JSON patch reports a bounded number of unknown fields", async () => {
    const operation = { op: "test", path: "/kind", value: "ConfigMap", ...keyed(50_000, 1) };
    const { code, json: answer } = await server.patch(`${patched}?fieldValidation=Strict`, jsonPatch, [operation]);
    expect(code).toBe(400);
    expect(answer.message.match(/unknown field/g)).toHaveLength(100);
  });

  test("taken: changes of an object of 50,000 keys, whose managedFields are as large as its data", async () => {
    const path = `${configMaps}/changed`;
    const data = keyed(50_000, "x");
    await server.create(configMaps, { metadata: { name: "changed" }, data });
    const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "changed" }, data: keyed(50_000, "y") };
    const requests = [
      ["PATCH", path, mergePatch, { data: { more: "y" } }],
      ["PATCH", path, jsonPatch, [{ op: "remove", path: "/data/more" }]],
      ["PATCH", `${path}?fieldManager=other&force=true`, "application/apply-patch+yaml", applied],
      ["PUT", path, json, { metadata: { name: "changed" }, data }],
    ] as const;
    for (const [method, target, type, body] of requests) {
      const { code, json: answer } = await server.request(method, target, { body: text(body), type });
      expect({ method, type, code, message: answer.message }).toEqual({ method, type, code: 200, message: undefined });
    }
  });

  test("taken: reads of a large object in each form", async () => {
    const path = `${configMaps}/read`;
    const data = keyed(20_000, "multi\nline: #1");
    await server.create(configMaps, { metadata: { name: "read" }, data });
    for (const accept of [json, yaml, cbor, protobuf]) {
      const { code, bytes } = await server.get(path, { accept });
      expect({ accept, code }).toEqual({ accept, code: 200 });
      if (accept === yaml) expect(parseYaml(bytes, { strict: true }).value).toMatchObject({ kind: "ConfigMap", data });
      if (accept === cbor) expect(decodeCbor(bytes)).toMatchObject({ kind: "ConfigMap", data });
    }
  });

  test("taken: several at once, which take turns", async () => {
    const body = text({ metadata, data: keyed(20_000, "x".repeat(40)) });
    let codes: number[] = [];
    const turnMs = await longestTurnMs(async () => {
      const answers = await Promise.all(list(8, () => server.post(`${configMaps}?dryRun=All`, body)));
      codes = answers.map(({ code }) => code);
    });
    expect(codes).toEqual(list(8, () => 201));
    expect(turnMs).toBeLessThan(turnMsMax);
  });
});
