import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import protobuf from "protobufjs";
import { Scheme } from "../../kinds/scheme.ts";
import { equalJson, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, Schema, StructSchema } from "../schema/schema.ts";
import { StatusError } from "../status.ts";
import { runToEnd } from "../testing.ts";
import { protobufListParts } from "./encode-list-protobuf.ts";
import {
  decodeMessage,
  decodeMessageInSteps,
  encodeListItemHead,
  encodeMessage,
  encodeWatchFrame,
  hasProtobufMagic,
  ProtobufDecodeError,
  unwrapUnknown,
  wrapUnknown,
} from "./protobuf.ts";

const scheme = Scheme.builtIn();
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const unhex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));

function field(name: string, number: number, schema: Schema, more: Partial<Field> = {}): Field {
  return {
    name,
    schema,
    number,
    protoInlined: false,
    pointer: false,
    omitEmpty: true,
    omitZero: false,
    required: false,
    patchStrategy: [],
    patchMergeKey: undefined,
    listType: "atomic",
    listMapKeys: [],
    mapType: "granular",
    default: undefined,
    immutable: false,
    gates: [],
    ...more,
  };
}

function struct(name: string, fields: readonly Field[], protoInline: [number, StructSchema][] = []): StructSchema {
  return {
    kind: "struct",
    name,
    fields: new Map(fields.map((one) => [one.name, one])),
    atomic: false,
    preserveUnknown: false,
    protoInline: new Map(protoInline),
  };
}

const scalar = (kind: Extract<Schema, { kind: "scalar" }>["scalar"]): Schema => ({ kind: "scalar", scalar: kind });

describe("encodeMessage", () => {
  const text = scalar("string");
  const cases: readonly (readonly [title: string, schema: StructSchema, object: JsonObject, bytes: string])[] = [
    [
      "writes a zero value that is not a pointer",
      struct("t", [field("a", 1, text), field("b", 2, scalar("int32"))]),
      {},
      "0a00 1000",
    ],
    ["leaves out an absent pointer", struct("t", [field("a", 1, text, { pointer: true })]), {}, ""],
    [
      "writes a zero value behind a pointer",
      struct("t", [field("a", 1, scalar("bool"), { pointer: true })]),
      { a: false },
      "0800",
    ],
    [
      "orders fields by number",
      struct("t", [field("b", 2, text), field("a", 1, text)]),
      { a: "x", b: "y" },
      "0a0178 120179",
    ],
    [
      "sorts map entries by key",
      struct("t", [field("m", 3, { kind: "map", values: text })]),
      { m: { b: "2", a: "" } },
      "1a05 0a0161 1200 1a06 0a0162 120132",
    ],
    [
      "leaves out empty lists and maps",
      struct("t", [field("l", 1, { kind: "list", items: text }), field("m", 2, { kind: "map", values: text })]),
      { l: [], m: {} },
      "",
    ],
    [
      "does not pack repeated numbers",
      struct("t", [field("l", 1, { kind: "list", items: scalar("int64") })]),
      { l: [1, -1] },
      "0801 08ffffffffffffffffff01",
    ],
    [
      "writes int64 beyond a double exactly",
      struct("t", [field("n", 1, scalar("int64"))]),
      { n: 9223372036854775807n },
      "08ffffffffffffffff7f",
    ],
    [
      "writes a negative int32 in ten bytes",
      struct("t", [field("n", 1, scalar("int32"))]),
      { n: -2 },
      "08feffffffffffffffff01",
    ],
    [
      "writes a time as seconds and nanos",
      struct("t", [field("t", 1, scalar("time"))]),
      { t: "1970-01-01T00:00:01Z" },
      "0a04 0801 1000",
    ],
    ["writes the zero time as an empty message", struct("t", [field("t", 1, scalar("time"))]), {}, "0a00"],
    [
      "writes microseconds as nanos",
      struct("t", [field("t", 1, scalar("microTime"))]),
      { t: "1970-01-01T00:00:00.000001Z" },
      "0a05 0800 10e807",
    ],
    [
      "writes a number of int-or-string",
      struct("t", [field("p", 1, scalar("intOrString"))]),
      { p: 80 },
      "0a06 0800 1050 1a00",
    ],
    [
      "writes the text of int-or-string",
      struct("t", [field("p", 1, scalar("intOrString"))]),
      { p: "a" },
      "0a07 0801 1000 1a0161",
    ],
    ["writes an absent quantity as 0", struct("t", [field("q", 1, scalar("quantity"))]), {}, "0a03 0a0130"],
    [
      "writes a raw extension as its JSON text",
      struct("t", [field("r", 1, scalar("rawExtension"))]),
      { r: { a: 1n } },
      "0a09 0a07 7b2261223a317d",
    ],
    ["writes base64 text as bytes", struct("t", [field("b", 1, scalar("bytes"))]), { b: "AQI=" }, "0a02 0102"],
    ["leaves out absent bytes", struct("t", [field("b", 1, scalar("bytes"))]), {}, ""],
    [
      "writes a duration in nanoseconds",
      struct("t", [field("d", 1, scalar("duration"))]),
      { d: "1.5us" },
      "0a03 08dc0b",
    ],
    [
      "wraps a list that is the value of a map",
      struct("t", [field("m", 1, { kind: "map", values: { kind: "list", items: text } })]),
      { m: { k: ["a", ""] } },
      "0a0a 0a016b 1205 0a0161 0a00",
    ],
    [
      "puts the fields of an inlined struct into its message",
      struct(
        "t",
        [field("name", 1, text, { protoInlined: true }), field("key", 2, text)],
        [[1, struct("i", [field("name", 1, text)])]],
      ),
      { name: "n", key: "k" },
      "0a03 0a016e 12016b",
    ],
  ];
  for (const [title, schema, object, bytes] of cases) {
    test(title, () => {
      expect(hex(encodeMessage(schema, object))).toBe(bytes.replaceAll(" ", ""));
      // An absent field may be decoded as zero, and zero as absent; encoding the result must give the same bytes.
      const decoded = decodeMessage(schema, unhex(bytes));
      expect(hex(encodeMessage(schema, decoded))).toBe(bytes.replaceAll(" ", ""));
    });
  }
});

describe("decodeMessage", () => {
  const number = struct("t", [field("n", 1, scalar("int64"))]);
  test("keeps int64 exact", () => {
    for (const n of [0x1f_ffff_ffff_ffff, -5, 2n ** 53n, -(2n ** 63n), 2n ** 63n - 1n]) {
      expect(decodeMessage(number, encodeMessage(number, { n }))).toEqual({ n });
    }
  });

  test("skips unknown fields of every wire type", () => {
    expect(decodeMessage(number, unhex("1005 190102030405060708 2202ffff 2d01020304 0807"))).toEqual({ n: 7 });
  });

  test("reads packed numbers too", () => {
    const list = struct("t", [field("l", 1, { kind: "list", items: scalar("int32") })]);
    expect(decodeMessage(list, unhex("0a03 010203 0804"))).toEqual({ l: [1, 2, 3, 4] });
  });

  test("keeps __proto__ as a key of a map", () => {
    const map = struct("t", [field("m", 1, { kind: "map", values: scalar("string") })]);
    const decoded = decodeMessage(map, encodeMessage(map, { m: JSON.parse('{"__proto__":"x"}') as JsonObject }));
    expect(Object.keys(decoded["m"] as JsonObject)).toEqual(["__proto__"]);
  });

  const refused: readonly (readonly [title: string, bytes: string])[] = [
    ["a length beyond the end", "12ff"],
    ["a length of four gigabytes", "12ffffffff0f"],
    ["a length beyond 32 bits", "12ffffffffff7f"],
    ["an endless varint", "08ffffffffffffffffffffff"],
    ["field number 0", "0001"],
    ["a group", "0b0c"],
    ["the end of a group", "0c"],
    ["another wire type", "0a0101"],
    ["a truncated fixed64", "1901"],
  ];
  for (const [title, bytes] of refused) {
    test(`refuses ${title}`, () => {
      expect(() => decodeMessage(number, unhex(bytes))).toThrow(ProtobufDecodeError);
    });
  }

  test("refuses a time out of range and a raw value that is not JSON", () => {
    const time = struct("t", [field("t", 1, scalar("time")), field("r", 2, scalar("rawExtension"))]);
    expect(() => decodeMessage(time, unhex("0a0b 08ffffffffffffffff7f 10"))).toThrow(ProtobufDecodeError);
    expect(() => decodeMessage(time, unhex("1203 0a017b"))).toThrow("proto: raw value: unexpected end of JSON input");
  });

  test("counts the values of all JSON texts together", () => {
    const texts = struct("t", [field("r", 1, { kind: "list", items: scalar("rawExtension") })]);
    const list = [1, 2, 3].map(() => ({ items: Array.from({ length: 100 }, () => 0) }));
    const bytes = encodeMessage(texts, { r: list });
    expect(decodeMessage(texts, bytes, 310)).toEqual({ r: list });
    expect(() => decodeMessage(texts, bytes, 300)).toThrow(StatusError);
  });

  test("refuses nesting without end", () => {
    const props = jsonSchemaProps();
    let bytes: Uint8Array = new Uint8Array();
    // `not` of JSONSchemaProps holds another JSONSchemaProps.
    const not = props.fields.get("not")?.number as number;
    for (let depth = 0; depth < 2_000; depth++) {
      bytes = protobuf.Writer.create()
        .uint32((not << 3) | 2)
        .bytes(bytes)
        .finish();
    }
    expect(() => decodeMessage(props, bytes)).toThrow("recursion depth");
  });
});

describe("built-in types", () => {
  const pod: JsonObject = {
    metadata: {
      name: "web",
      namespace: "default",
      uid: "u-1",
      resourceVersion: "12",
      generation: 3,
      creationTimestamp: "2026-01-02T03:04:05Z",
      deletionGracePeriodSeconds: 0,
      labels: { a: "1", b: "" },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "rs", uid: "x", controller: true }],
      managedFields: [
        {
          manager: "m",
          operation: "Update",
          apiVersion: "v1",
          time: "2026-01-02T03:04:05Z",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:spec": { 'k:{"name":"c"}': {} } },
        },
      ],
    },
    spec: {
      volumes: [{ name: "v", configMap: { name: "cm", optional: false, defaultMode: 420 } }],
      containers: [
        {
          name: "c",
          image: "nginx",
          ports: [{ containerPort: 80, protocol: "TCP" }],
          resources: { limits: { cpu: "500m", memory: "1Gi" } },
          livenessProbe: { httpGet: { path: "/", port: 8080, scheme: "HTTP" }, periodSeconds: 10 },
          readinessProbe: { httpGet: { path: "/", port: "http" } },
          env: [{ name: "E", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
        },
      ],
      terminationGracePeriodSeconds: 0,
    },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-02T03:04:05Z" }],
    },
  };

  test("a Pod comes back as it went out", () => {
    const schema = scheme.typeSchema("core/v1.Pod");
    const decoded = decodeMessage(schema, encodeMessage(schema, pod));
    const condition = (((decoded["status"] as JsonObject)["conditions"] as JsonObject[])[0] ?? {}) as JsonObject;
    // The zero time of a field without omitzero is null in JSON.
    expect(condition["lastProbeTime"]).toBeNull();
    delete condition["lastProbeTime"];
    expect(hex(encodeMessage(schema, decoded))).toBe(hex(encodeMessage(schema, pod)));
    expect(decoded["metadata"] as JsonObject).toEqual(pod["metadata"] as JsonObject);
    expect(JSON.parse(JSON.stringify(decoded["spec"]))).toEqual(pod["spec"]);
  });

  test("another implementation reads a ConfigMap", () => {
    const { root } = protobuf.parse(`syntax = "proto2";
      message Meta { optional string name = 1; optional string namespace = 3; optional int64 generation = 7; map<string, string> labels = 11; }
      message ConfigMap { optional Meta metadata = 1; map<string, string> data = 2; map<string, bytes> binaryData = 3; optional bool immutable = 4; }`);
    const object: JsonObject = {
      metadata: { name: "é", generation: 7, labels: { x: "y" } },
      data: { k: "v" },
      binaryData: { b: "AQI=" },
      immutable: true,
    };
    const type = root.lookupType("ConfigMap");
    const read = type.toObject(type.decode(encodeMessage(scheme.typeSchema("core/v1.ConfigMap"), object)), {
      longs: Number,
      bytes: String,
    });
    expect(read).toEqual({ ...object, metadata: { ...(object["metadata"] as JsonObject), namespace: "" } });
  });

  test("a schema of a custom resource keeps its choices", () => {
    const schema = jsonSchemaProps();
    const props: JsonObject = {
      type: "object",
      default: { a: 1 },
      enum: [1, "b", null],
      items: { type: "string" },
      allOf: [{ items: [{ type: "integer" }, { type: "string" }] }],
      additionalProperties: { type: "number", maximum: 1.5 },
      additionalItems: false,
      dependencies: { a: ["b", "c"], d: { type: "string" } },
      properties: { p: { type: "array" } },
    };
    expect(equalJson(decodeMessage(schema, encodeMessage(schema, props)), props)).toBe(true);
  });

  test("the verbs of discovery are a message of their own", () => {
    const schema = scheme.typeSchema("meta/v1.APIResource");
    const bytes = encodeMessage(schema, { name: "pods", verbs: ["get", "list"] });
    expect(hex(bytes)).toContain("220b0a036765740a046c697374");
    expect(decodeMessage(schema, bytes)).toMatchObject({ name: "pods", verbs: ["get", "list"] });
  });
});

describe("the envelope", () => {
  const type = { apiVersion: "v1", kind: "Pod" };
  test("has the bytes that clients expect", () => {
    expect(hex(wrapUnknown(type, unhex("0a00")))).toBe(
      "6b387300 0a09 0a027631 1203506f64 1202 0a00 1a00 2200".replaceAll(" ", ""),
    );
  });

  test("opens to what was put in", () => {
    expect(unwrapUnknown(wrapUnknown(type, unhex("0102")))).toMatchObject({
      ...type,
      contentType: "",
      contentEncoding: "",
    });
    expect(hex(unwrapUnknown(wrapUnknown(type, unhex("0102"))).raw)).toBe("0102");
  });

  test("is refused without its magic", () => {
    expect(hasProtobufMagic(unhex("6b3873"))).toBe(false);
    expect(() => unwrapUnknown(unhex("6b387301"))).toThrow(ProtobufDecodeError);
    expect(() => unwrapUnknown(new Uint8Array())).toThrow(ProtobufDecodeError);
  });

  test("a list has metadata and items", () => {
    const schema = scheme.typeSchema("core/v1.ConfigMapList");
    const item = encodeMessage(scheme.typeSchema("core/v1.ConfigMap"), { metadata: { name: "a" } });
    const meta = { resourceVersion: "7", continue: "c", remainingItemCount: 2n ** 53n };
    const list = { kind: "ConfigMapList", apiVersion: "v1", metadata: meta, extra: {}, itemsField: "items" } as const;
    const itemBytes = 2 * (encodeListItemHead(item.length).length + item.length);
    const { raw, ...listType } = unwrapUnknown(Buffer.concat([...protobufListParts(list, [item, item], itemBytes)]));
    expect(listType).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1" });
    expect(hex(raw)).toBe(
      hex(encodeMessage(schema, { metadata: meta, items: [{ metadata: { name: "a" } }, { metadata: { name: "a" } }] })),
    );
  });

  test("a watch frame is a length and an event", () => {
    const envelope = wrapUnknown(type, unhex("0a00"));
    const frame = encodeWatchFrame("ADDED", envelope);
    expect(Buffer.from(frame).readUInt32BE(0)).toBe(frame.length - 4);
    const raw = hex(envelope);
    const lengths = [envelope.length + 2, envelope.length].map((length) => length.toString(16).padStart(2, "0"));
    expect(hex(frame.subarray(4))).toBe(`0a0541444445441 2${lengths[0]}0a${lengths[1]}${raw}`.replaceAll(" ", ""));
  });
});

describe("any bytes", () => {
  const schemas = [
    ...["core/v1.Pod", "core/v1.NodeList", "meta/v1.Status"].map((name) => scheme.typeSchema(name)),
    jsonSchemaProps(),
  ];
  const onlyNamedErrors = (read: () => unknown) => {
    try {
      read();
    } catch (error) {
      expect(error).toBeInstanceOf(ProtobufDecodeError);
    }
  };

  const inSteps = (schema: StructSchema, bytes: Uint8Array) =>
    runToEnd(decodeMessageInSteps(schema, bytes, Number.POSITIVE_INFINITY));
  const outcomeOf = (read: () => unknown) => {
    try {
      return read();
    } catch (error) {
      return (error as Error).message;
    }
  };

  test("of a long message are read with pauses, also inside other messages", () => {
    const schema = scheme.typeSchema("core/v1.Pod");
    const args = Array.from({ length: 5_000 }, (_, at) => `a${at}`);
    const pod = {
      metadata: { finalizers: args },
      spec: {
        containers: [
          { name: "c", args },
          { name: "d", args },
        ],
      },
    };
    const bytes = encodeMessage(schema, pod);
    const { result, yields } = inSteps(schema, bytes);
    expect(result).toEqual(decodeMessage(schema, bytes));
    expect(yields).toBeGreaterThan(50);
  });

  test("decode or give a ProtobufDecodeError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...schemas), (bytes, schema) => {
        onlyNamedErrors(() => decodeMessage(schema, bytes));
        expect(outcomeOf(() => inSteps(schema, bytes).result)).toEqual(outcomeOf(() => decodeMessage(schema, bytes)));
        onlyNamedErrors(() => unwrapUnknown(Buffer.concat([unhex("6b387300"), bytes])));
      }),
      { numRuns: 1_000 },
    );
  });

  test("a damaged Pod decodes or gives a ProtobufDecodeError", () => {
    const schema = scheme.typeSchema("core/v1.Pod");
    const good = encodeMessage(schema, {
      metadata: { name: "web", creationTimestamp: "2026-01-02T03:04:05Z" },
      spec: { containers: [{ name: "c", resources: { limits: { cpu: "1" } } }] },
    });
    const damage = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(damage, (changes) => {
        const bytes = good.slice();
        for (const [at, byte] of changes) bytes[at] = byte;
        onlyNamedErrors(() => encodeMessage(schema, decodeMessage(schema, bytes)));
        expect(outcomeOf(() => inSteps(schema, bytes).result)).toEqual(outcomeOf(() => decodeMessage(schema, bytes)));
      }),
      { numRuns: 1_000 },
    );
  });
});

test("messages of random schemas come back as they went out", () => {
  const kinds = {
    string: fc.string({ unit: "grapheme" }),
    bool: fc.boolean(),
    int32: fc.integer(),
    int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(exact),
    uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(exact),
    float64: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
    bytes: fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  } as const;
  const leaf = fc
    .constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[]))
    .chain((kind) => fc.record({ schema: fc.constant(scalar(kind)), value: kinds[kind] as fc.Arbitrary<JsonValue> }));
  const node = fc.oneof(
    leaf,
    leaf.chain(({ schema }) =>
      fc
        .array(kinds[(schema as { scalar: keyof typeof kinds }).scalar] as fc.Arbitrary<JsonValue>, {
          minLength: 1,
          maxLength: 3,
        })
        .map((value) => ({ schema: { kind: "list", items: schema } as Schema, value: value as JsonValue })),
    ),
    leaf.chain(({ schema }) =>
      fc
        .dictionary(fc.string(), kinds[(schema as { scalar: keyof typeof kinds }).scalar] as fc.Arbitrary<JsonValue>, {
          minKeys: 1,
          maxKeys: 3,
        })
        .map((value) => ({ schema: { kind: "map", values: schema } as Schema, value: value as JsonValue })),
    ),
  );
  fc.assert(
    fc.property(fc.array(node, { maxLength: 6 }), (nodes) => {
      const schema = struct(
        "t",
        nodes.map((one, at) => field(`f${at}`, at + 1, one.schema, { pointer: true })),
      );
      const outer = struct("o", [field("inner", 5, schema, { pointer: true })]);
      const object: JsonObject = { inner: Object.fromEntries(nodes.map((one, at) => [`f${at}`, one.value])) };
      expect(equalJson(decodeMessage(outer, encodeMessage(outer, object)), object)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

function exact(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** The fields of JSONSchemaProps that the tests use; the type refers to itself. */
function jsonSchemaProps(): StructSchema {
  const fields = new Map<string, Field>();
  const schema: StructSchema = { ...struct("apiextensions/v1.JSONSchemaProps", []), fields };
  const add = (one: Field) => fields.set(one.name, one);
  const pointer = { pointer: true };
  add(field("type", 5, scalar("string")));
  add(field("default", 8, scalar("any"), pointer));
  add(field("maximum", 9, scalar("float64"), pointer));
  add(field("enum", 20, { kind: "list", items: scalar("any") }));
  add(field("items", 24, scalar("any"), pointer));
  add(field("allOf", 25, { kind: "list", items: schema }));
  add(field("not", 28, schema, pointer));
  add(field("properties", 29, { kind: "map", values: schema }));
  add(field("additionalProperties", 30, scalar("any"), pointer));
  add(field("dependencies", 32, { kind: "map", values: scalar("any") }));
  add(field("additionalItems", 33, scalar("any"), pointer));
  return schema;
}
