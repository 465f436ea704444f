import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Scheme } from "../../kinds/scheme.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { TypeSchemas } from "./compile.ts";
import { decodeTyped, maxDecodeDepth, maxUnknownFields } from "./decode.ts";
import { DecodeTypeError } from "./decode-error.ts";

const scheme = Scheme.builtIn();
const decode = (type: string, value: JsonValue, takesOver = false) =>
  decodeTyped(scheme.typeSchema(type), value, { kind: type.slice(type.lastIndexOf(".") + 1), takesOver });
const text = (type: string, value: JsonValue) => JSON.stringify(decode(type, value).object);

describe("decoding a built-in object", () => {
  const cases: readonly [name: string, type: string, input: JsonValue, output: string][] = [
    ["writes empty structs", "core/v1.Pod", {}, '{"metadata":{},"spec":{"containers":null},"status":{}}'],
    [
      "keeps the type in front and orders fields by declaration, keys of maps by name",
      "core/v1.ConfigMap",
      { data: { b: "1", a: "2" }, metadata: { namespace: "d", name: "n" }, apiVersion: "v1", kind: "ConfigMap" },
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","namespace":"d"},"data":{"a":"2","b":"1"}}',
    ],
    [
      "leaves out null, zero and empty",
      "core/v1.ConfigMap",
      { metadata: { name: "", labels: {}, finalizers: [], creationTimestamp: null, generation: 0 }, data: null },
      '{"metadata":{}}',
    ],
    ["keeps zero behind a pointer", "core/v1.ConfigMap", { immutable: false }, '{"metadata":{},"immutable":false}'],
    [
      "keeps an empty struct behind a pointer",
      "core/v1.PodSpec",
      { containers: [], securityContext: {} },
      '{"containers":[],"securityContext":{}}',
    ],
    ["writes resources of a container", "core/v1.Container", { name: "c" }, '{"name":"c","resources":{}}'],
    [
      "writes zero times of events as null",
      "core/v1.Event",
      { involvedObject: { kind: "Pod" }, reason: "R" },
      '{"metadata":{},"involvedObject":{"kind":"Pod"},"reason":"R","source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""}',
    ],
    [
      "normalises times to UTC",
      "coordination/v1.LeaseSpec",
      { renewTime: "2024-01-02T03:04:05.123456+01:00" },
      '{"renewTime":"2024-01-02T02:04:05.123456Z"}',
    ],
    [
      "cuts fractions off whole-second times",
      "core/v1.ContainerStateRunning",
      { startedAt: "2024-01-02T03:04:05.999Z" },
      '{"startedAt":"2024-01-02T03:04:05Z"}',
    ],
    [
      "writes quantities canonically, also from numbers",
      "core/v1.ResourceRequirements",
      { limits: { cpu: 0.5, memory: "1024Mi" } },
      '{"limits":{"cpu":"500m","memory":"1Gi"}}',
    ],
    [
      "takes null in a list as zero",
      "core/v1.Container",
      { name: "c", args: ["a", null] },
      '{"name":"c","args":["a",""],"resources":{}}',
    ],
    ["takes null in a map as zero", "core/v1.ConfigMap", { data: { a: null } }, '{"metadata":{},"data":{"a":""}}'],
    ["keeps integers and text apart", "core/v1.HTTPGetAction", { port: "http" }, '{"port":"http"}'],
    ["writes an unset integer or text as 0", "core/v1.HTTPGetAction", {}, '{"port":0}'],
    ["reads bytes from numbers", "core/v1.Secret", { data: { a: [97, null] } }, '{"metadata":{},"data":{"a":"YQA="}}'],
    ["clears stray bits of base64", "core/v1.Secret", { data: { a: "YR==" } }, '{"metadata":{},"data":{"a":"YQ=="}}'],
    ["writes a document of null as an empty one", "core/v1.ConfigMap", null, '{"metadata":{}}'],
  ];
  for (const [name, type, input, output] of cases) test(name, () => expect(text(type, input)).toBe(output));

  test("treats __proto__ as a key like any other", () => {
    const input = JSON.parse('{"metadata":{"labels":{"__proto__":"x"}},"__proto__":{"data":{"a":"b"}}}') as JsonObject;
    const { object, unknownFields } = decode("core/v1.ConfigMap", input);
    expect(JSON.stringify(object)).toBe('{"metadata":{"labels":{"__proto__":"x"}}}');
    expect(unknownFields).toEqual(["__proto__"]);
  });

  test("keeps 64-bit integers and narrows what is safe", () => {
    const big = 2n ** 62n;
    expect(decode("meta/v1.ObjectMeta", { generation: big }).object).toEqual({ generation: big });
    expect(decode("meta/v1.ObjectMeta", { generation: 7n }).object).toEqual({ generation: 7 });
  });

  test("does not share structs, lists or maps with the input", () => {
    const input: JsonObject = { metadata: { labels: { a: "1" }, finalizers: ["f"] } };
    const { object } = decode("core/v1.ConfigMap", input);
    ((input["metadata"] as JsonObject)["labels"] as JsonObject)["a"] = "changed";
    ((input["metadata"] as JsonObject)["finalizers"] as JsonValue[])[0] = "changed";
    expect(JSON.stringify(object)).toBe('{"metadata":{"labels":{"a":"1"},"finalizers":["f"]}}');
  });

  test.each([
    [{ kind: "ConfigMap", apiVersion: "v1", metadata: {} }, true],
    [{ kind: "ConfigMap", metadata: {} }, true],
    [{ apiVersion: "v1", kind: "ConfigMap", metadata: {} }, false],
    [{ metadata: {}, kind: "ConfigMap", apiVersion: "v1" }, false],
    [{ kind: "", apiVersion: "v1", metadata: {} }, false],
    [{ kind: null, apiVersion: "v1", metadata: {} }, false],
  ])("takes over a whole document only with its type in front: %j", (document, isTaken) => {
    const { object } = decode("core/v1.ConfigMap", document, true);
    expect(object === document).toBe(isTaken);
    expect(Object.keys(object)).toEqual(
      ["kind", "apiVersion", "metadata"].filter((name) => object[name] !== undefined),
    );
  });

  test("takes over what is as it should be where it is told to, and changes nothing of the input", () => {
    const labels = Object.assign(Object.create(null), { a: "1" }) as JsonObject;
    const input: JsonObject = { data: { b: "2" }, metadata: { labels, finalizers: ["f"], creationTimestamp: null } };
    const before = JSON.stringify(input);
    const { object } = decode("core/v1.ConfigMap", input, true);
    expect(JSON.stringify(object)).toBe('{"metadata":{"labels":{"a":"1"},"finalizers":["f"]},"data":{"b":"2"}}');
    expect((object["metadata"] as JsonObject)["labels"]).toBe(labels);
    expect(JSON.stringify(input)).toBe(before);
    expect(decode("core/v1.ConfigMap", object, true).object).toBe(object);
  });

  test("has nothing left to change in its own output", () => {
    const quantities = fc.constantFrom("1", "0.5", "1024Mi", 3, "1e3");
    const pods = fc.record(
      {
        metadata: fc.record(
          { name: fc.string(), labels: fc.dictionary(fc.string(), fc.string()) },
          { requiredKeys: [] },
        ),
        spec: fc.record({
          containers: fc.array(
            fc.record({
              name: fc.string(),
              resources: fc.record({ limits: fc.dictionary(fc.string(), quantities) }),
              tty: fc.boolean(),
            }),
          ),
          terminationGracePeriodSeconds: fc.option(fc.integer({ min: 0, max: 100 })),
        }),
        status: fc.record({ startTime: fc.constantFrom(null, "2024-01-02T03:04:05.5-02:00") }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(pods, (pod) => {
        const before = JSON.stringify(pod);
        const once = text("core/v1.Pod", pod as JsonObject);
        expect(JSON.stringify(pod)).toBe(before);
        expect(text("core/v1.Pod", JSON.parse(once) as JsonObject)).toBe(once);
        expect(JSON.stringify(decode("core/v1.Pod", pod as JsonObject, true).object)).toBe(once);
        expect(JSON.stringify(pod)).toBe(before);
      }),
    );
  });
});

describe("unknown fields", () => {
  test("are dropped and listed with their path, in the order of the document", () => {
    const { object, unknownFields } = decode("core/v1.Pod", {
      a: 1,
      Spec: {},
      metadata: { managedFields: [{ x: 1 }] },
      spec: { containers: [{ name: "c" }, { name: "d", foo: 1 }] },
    });
    expect(unknownFields).toEqual(["a", "Spec", "metadata.managedFields[0].x", "spec.containers[1].foo"]);
    expect(object["a"]).toBeUndefined();
  });
  test("are counted up to a limit", () => {
    const many = Object.fromEntries(Array.from({ length: maxUnknownFields + 50 }, (_, at) => [`f${at}`, 1]));
    expect(decode("core/v1.ConfigMap", many).unknownFields).toHaveLength(maxUnknownFields);
  });
  test("are put in order without looking through the document for each of them", () => {
    const { document, listings } = countedListings(
      Object.fromEntries(Array.from({ length: 2 * maxUnknownFields }, (_, at) => [`f${at}`, 1])),
    );
    const { unknownFields } = decode("core/v1.ConfigMap", document);
    expect(unknownFields).toEqual(Array.from({ length: maxUnknownFields }, (_, at) => `f${at}`));
    expect(listings()).toBeLessThan(10);
  });
  test("stay where the schema keeps them", () => {
    const kept = { ...scheme.typeSchema("meta/v1.Preconditions"), kind: "struct", name: "x.Y", preserveUnknown: true };
    const schema = { ...kept, atomic: false, fields: new Map(), protoInline: new Map() } as const;
    expect(decodeTyped({ ...schema, kind: "struct" }, { a: { b: 1 } }, { kind: "Y" })).toEqual({
      object: { a: { b: 1 } },
      unknownFields: [],
    });
  });
});

describe("values of the wrong type", () => {
  const cases: readonly [type: string, input: JsonValue, message: string][] = [
    ["core/v1.Pod", [], "json: cannot unmarshal array into Go value of type v1.Pod"],
    ["core/v1.Pod", { kind: 1 }, "json: cannot unmarshal number into Go struct field Pod.TypeMeta.kind of type string"],
    ["core/v1.Pod", { spec: "x" }, "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec"],
    [
      "core/v1.Pod",
      { metadata: { labels: "x" } },
      "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
    ],
    [
      "core/v1.Pod",
      { metadata: { labels: { a: true } } },
      "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      "core/v1.Pod",
      { spec: { containers: [{ name: "a" }, { name: {} }] } },
      "json: cannot unmarshal object into Go struct field Container.spec.containers.name of type string",
    ],
    [
      "core/v1.Pod",
      { spec: { containers: {} } },
      "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
    ],
    [
      "core/v1.ContainerPort",
      { containerPort: 1.5 },
      "json: cannot unmarshal number 1.5 into Go struct field ContainerPort.containerPort of type int32",
    ],
    [
      "core/v1.ContainerPort",
      { containerPort: 2 ** 31 },
      "json: cannot unmarshal number 2147483648 into Go struct field ContainerPort.containerPort of type int32",
    ],
    ["meta/v1.ObjectMeta", { generation: 2 ** 63 }, "cannot unmarshal number 9223372036854776000"],
    ["meta/v1.ObjectMeta", { generation: 2n ** 63n }, "cannot unmarshal number 9223372036854775808"],
    ["meta/v1.ObjectMeta", { creationTimestamp: 5 }, "cannot unmarshal number into Go struct field"],
    ["meta/v1.ObjectMeta", { creationTimestamp: "2024-02-30T00:00:00Z" }, "parsing time"],
    ["coordination/v1.LeaseSpec", { renewTime: "2024-01-02T03:04:05Z" }, "parsing time"],
    ["core/v1.Secret", { data: { a: "a*==" } }, "illegal base64 data at input byte 1"],
    [
      "core/v1.Secret",
      { data: { a: [256] } },
      "json: cannot unmarshal number 256 into Go struct field Secret.data of type uint8",
    ],
    [
      "core/v1.Secret",
      { data: { a: ["a"] } },
      "json: cannot unmarshal string into Go struct field Secret.data of type uint8",
    ],
    ["core/v1.Secret", { data: { a: "YQ" } }, "illegal base64 data at input byte 0"],
    ["core/v1.Secret", { data: { a: "YWJjYQ=" } }, "illegal base64 data at input byte 7"],
    ["core/v1.Secret", { data: { a: "YWJjx" } }, "illegal base64 data at input byte 4"],
    ["core/v1.Secret", { data: { a: "YQ==YQ==" } }, "illegal base64 data at input byte 4"],
    ["core/v1.Secret", { data: { a: "YWJjYWJjx" } }, "illegal base64 data at input byte 8"],
    ["core/v1.Secret", { data: { a: "YWI=x" } }, "illegal base64 data at input byte 4"],
    ["core/v1.Secret", { data: { a: "YQ=x" } }, "illegal base64 data at input byte 2"],
    ["core/v1.Secret", { data: { a: "YQ==x" } }, "illegal base64 data at input byte 4"],
    ["core/v1.Secret", { data: { a: "Y===" } }, "illegal base64 data at input byte 1"],
    ["core/v1.Secret", { data: { a: "YQ=" } }, "illegal base64 data at input byte 3"],
    ["core/v1.ResourceRequirements", { limits: { cpu: "x" } }, "quantities must match the regular expression"],
    ["core/v1.ResourceRequirements", { limits: { cpu: true } }, "quantities must match the regular expression"],
    ["core/v1.HTTPGetAction", { port: true }, "cannot unmarshal bool into Go struct field HTTPGetAction.port"],
  ];
  for (const [type, input, message] of cases) {
    const name = JSON.stringify(input, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
    test(`${type} refuses ${name}`, () => {
      expect(() => decode(type, input)).toThrow(DecodeTypeError);
      expect(() => decode(type, input)).toThrow(message);
    });
  }

  test("nesting deeper than the limit is refused", () => {
    const types = new TypeSchemas({ "t.Deep": { fields: [{ n: "next", t: "t.Deep", ptr: 1, oe: 1 }] } });
    const nested = (depth: number): JsonObject => {
      let value: JsonObject = {};
      for (let at = 1; at < depth; at++) value = { next: value };
      return value;
    };
    const schema = types.struct("t.Deep");
    expect(decodeTyped(schema, nested(maxDecodeDepth), { kind: "Deep" }).unknownFields).toEqual([]);
    expect(() => decodeTyped(schema, nested(maxDecodeDepth + 1), { kind: "Deep" })).toThrow("exceeded max depth");
  });
});

/** The object, and how often its keys were listed. */
function countedListings(object: JsonObject): { document: JsonObject; listings: () => number } {
  let count = 0;
  const document = new Proxy(object, {
    ownKeys(target) {
      count++;
      return Reflect.ownKeys(target);
    },
  });
  return { document, listings: () => count };
}

test("parts of a decoded document are not decoded again, and the rest becomes what it would without them", () => {
  const schema = scheme.typeSchema("core/v1.Pod");
  const container = (name: string) => ({ resources: { limits: { cpu: "1000m" } }, name, env: [{ name: "A" }] });
  const spec = { volumes: [{ name: "v" }], containers: [container("a"), container("b")] };
  const settled = decode("core/v1.Pod", { metadata: { labels: { b: "1", a: "2" } }, spec }).object as any;
  const [a, b] = settled.spec.containers;
  const changed = {
    metadata: { ...settled.metadata, labels: { ...settled.metadata.labels, "0": "x" }, annotations: {} },
    kind: "Pod",
    spec: { ...settled.spec, containers: [a, { ...b, resources: { limits: { cpu: "2000m" } } }, container("c")] },
    status: settled.status,
  };
  const expected = decode("core/v1.Pod", structuredClone(changed));
  const { object, unknownFields } = decodeTyped(schema, changed, { kind: "Pod", takesOver: true, settled }) as any;
  expect([JSON.stringify(object), unknownFields]).toEqual([JSON.stringify(expected.object), expected.unknownFields]);
  expect([object.spec.volumes === settled.spec.volumes, object.spec.containers[0] === a]).toEqual([true, true]);
  expect(decodeTyped(schema, settled, { kind: "Pod", takesOver: true, settled }).object).toBe(settled);
});
