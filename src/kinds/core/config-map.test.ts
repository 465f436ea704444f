import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "v1/configmaps";
const minimal: JsonObject = {};
const rich: JsonObject = { data: { a: "1", ".b": "2" }, binaryData: { c: "eA==" } };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ConfigMap with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "data",
    { "a/b": "" },
    [
      "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
  ],
  [
    "data",
    { "": "" },
    [
      "data[]: Invalid value: \"\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
  ],
  ["data", { "..": "x" }, ["data[..]: Invalid value: \"..\": must not be '..'"]],
  ["data.c", "y", ['data[c]: Invalid value: "c": duplicate of key present in binaryData']],
  [
    "binaryData",
    { "x y": "" },
    [
      "binaryData[x y]: Invalid value: \"x y\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
  ],
  [
    "metadata.name",
    "A",
    [
      "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
])("a ConfigMap with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([["data.a", "2", []]])(
  "an update that makes %s = %j gets the expected answer",
  async (field, value, causes) => {
    expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
  },
);

test("an immutable ConfigMap stays as it is", async () => {
  const frozen = { ...rich, immutable: true };
  const text = "Forbidden: field is immutable when `immutable` is set";
  expect(await updateRefusal(path, frozen, { ...rich, data: {}, binaryData: {} })).toEqual([
    `immutable: ${text}`,
    `data: ${text}`,
    `binaryData: ${text}`,
  ]);
});

test("changes of immutable fields are refused before other errors are looked for", async () => {
  const frozen = { ...rich, immutable: true };
  const [first, second] = await updateRefusal(path, frozen, { ...frozen, data: { "a/b": "" } });
  expect(first).toStartWith("data: Forbidden");
  expect(second).toStartWith("data[a/b]: Invalid value");
});

test("a ConfigMap holds a mebibyte of text and bytes together", async () => {
  const half = 512 * 1024;
  const full = { data: { a: "x".repeat(half) }, binaryData: { b: Buffer.alloc(half).toString("base64") } };
  expect(await refusal(path, full)).toEqual([]);
  expect(await refusal(path, changed(full, "data.c", "x"))).toEqual([
    "[]: Too long: may not be more than 1048576 bytes",
  ]);
});
