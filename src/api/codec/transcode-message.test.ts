import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../json.ts";
import { type TypeEntries, TypeSchemas } from "../schema/compile.ts";
import typesJson from "../scheme/generated/types.json";
import { toBytes } from "./byte-text.ts";
import { parseJsonText, stringifyJson } from "./json.ts";
import { partialMetadataSchema } from "./partial-metadata.ts";
import { encodeMessage } from "./protobuf.ts";
import { transcodeMessage, transcodeMetadata } from "./transcode-message.ts";

const types = new TypeSchemas(typesJson as unknown as TypeEntries);
const configMap = types.struct("core/v1.ConfigMap");
const pod = types.struct("core/v1.Pod");

const encoded = (text: string, type = configMap) => encodeMessage(type, parseJsonText(text) as JsonObject);
const transcoded = (text: string, type = configMap) => transcodeMessage(type, toBytes(text));

function expectSame(text: string, type = configMap): void {
  expect(Buffer.from(transcoded(text, type) ?? []).toString("hex")).toBe(
    Buffer.from(encoded(text, type)).toString("hex"),
  );
}

describe("transcodeMessage() writes what encodeMessage() writes", () => {
  test.each([
    ["an empty object", '{"metadata":{}}'],
    ["values that are null", '{"metadata":{"creationTimestamp":null},"data":null}'],
    [
      "fields in another order than that of their numbers",
      '{"metadata":{"name":"a"},"immutable":true,"data":{"a":"b"}}',
    ],
    ["every escape", String.raw`{"metadata":{},"data":{"a":"\"\\\b\f\n\r\t\/\u003c\u00e9\u2028"}}`],
    ["other characters", `{"metadata":{"name":"é✓😀"},"data":{"a":"\\\\é✓😀"}}`],
    ["binary data", '{"metadata":{},"binaryData":{"a":"","b":"AAEC","c":"//79"}}'],
    ["a field set", String.raw`{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"k:{\"b\":1}":{".":{}}}}]}}`],
    ["a large generation", '{"metadata":{"generation":281474976710656}}'],
    ["a negative number", '{"metadata":{"generation":-1}}'],
    ["a time before 1970", '{"metadata":{"creationTimestamp":"1969-12-31T23:59:59Z"}}'],
    ["a leap day", '{"metadata":{"creationTimestamp":"2028-02-29T12:30:01Z","deletionGracePeriodSeconds":0}}'],
  ])("for %s", (_, text) => expectSame(text));

  test.each([126, 127, 128, 129, 16_382, 16_383, 16_384, 100_000])("for a text of %d bytes", (bytes) => {
    expectSame(stringifyJson({ metadata: { name: "n".repeat(bytes) }, data: { a: `\n${"x".repeat(bytes - 1)}` } }));
  });

  test("for an object larger than the buffer, and the small one after it", () => {
    expectSame(stringifyJson({ metadata: {}, data: { a: "x".repeat(1_000_000), b: "\n".repeat(300_000) } }));
    expectSame('{"metadata":{"name":"a"}}');
  });

  test("for structs that JSON inlines", () => {
    expectSame(
      stringifyJson({
        metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "a", uid: "b", controller: true }] },
        spec: {
          volumes: [
            { name: "a", emptyDir: { sizeLimit: "1Gi" } },
            { name: "b", secret: { secretName: "s" } },
          ],
          containers: [
            {
              name: "a",
              ports: [{ containerPort: 80 }],
              envFrom: [{ secretRef: { name: "s" } }],
              env: [{ name: "A", value: "" }],
              resources: { limits: { cpu: "1" } },
              livenessProbe: { httpGet: { port: "http" }, periodSeconds: 10 },
              readinessProbe: { tcpSocket: { port: 80 } },
            },
          ],
        },
        status: {},
      }),
      pod,
    );
  });
});

describe("transcodeMessage() leaves to the decoder", () => {
  test.each([
    ["fields in another order", '{"data":{"a":"b"},"metadata":{}}'],
    ["unknown fields", '{"metadata":{},"other":1}'],
    ["unsorted keys", '{"metadata":{},"data":{"b":"","a":""}}'],
    ["numbers sorted as numbers", '{"metadata":{},"data":{"9":"","10":""}}'],
    ["keys with escapes", String.raw`{"metadata":{},"data":{"\n":""}}`],
    ["surrogates", String.raw`{"metadata":{"name":"\ud800"}}`],
    ["surrogates in a field set", String.raw`{"metadata":{"managedFields":[{"fieldsV1":{"f:\ud800":{}}}]}}`],
    ["null in a list", '{"metadata":{"finalizers":[null]}}'],
    ["spaces", '{"metadata": {}}'],
    ["a body that ends early", '{"metadata":{"name":"a'],
    ["a body with more behind it", '{"metadata":{}}}'],
    ["nothing", ""],
  ])("%s", (_, text) => expect(transcoded(text)).toBeUndefined());
});

test("transcodeMetadata() reads nothing behind the metadata", () => {
  const metadata = '"metadata":{"name":"a","labels":{"b":"c"}}';
  const bytes = transcodeMetadata(partialMetadataSchema(), toBytes(`{${metadata},"spec":{"replicas":1}}`));
  expect(bytes).toEqual(new Uint8Array(encoded(`{${metadata}}`, partialMetadataSchema())));
});
