import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updateRefusal } from "../testing.ts";

const path = "v1/secrets";
const minimal: JsonObject = {};
const rich: JsonObject = { type: "Opaque", data: { a: "MQ==", "b.c_d-e": "" }, immutable: false };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a Secret with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "data",
    { "a b": "" },
    [
      "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
  ],
  ["data", { "..": "" }, ["data[..]: Invalid value: \"..\": must not be '..'"]],
  [
    "type",
    "kubernetes.io/service-account-token",
    ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
  ],
  ["type", "kubernetes.io/tls", ["data[tls.crt]: Required value", "data[tls.key]: Required value"]],
  ["type", "kubernetes.io/basic-auth", ["data[username]: Required value", "data[password]: Required value"]],
  ["type", "kubernetes.io/ssh-auth", ["data[ssh-privatekey]: Required value"]],
  ["type", "kubernetes.io/dockercfg", ["data[.dockercfg]: Required value"]],
])("a Secret with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["type", "example.com/other", ['type: Invalid value: "example.com/other": field is immutable']],
  ["data.a", "Mg==", []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("text is taken as data, and wins over it", async () => {
  const { data, stringData } = (await created(path, {
    data: { a: "eA==", b: "eQ==" },
    stringData: { a: "ü" },
  })) as unknown as { data: JsonObject; stringData?: JsonObject };
  expect(data).toEqual({ a: "w7w=", b: "eQ==" });
  expect(stringData).toBeUndefined();
});

test.each([
  ["{", "unexpected end of JSON input"],
  ["x", "invalid character 'x' looking for beginning of value"],
  ["[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"],
  ["7", "json: cannot unmarshal number into Go value of type map[string]interface {}"],
])("credentials %j of a registry are refused without showing them", async (text, problem) => {
  const secret = { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": text } };
  expect(await refusal(path, secret)).toEqual([
    `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": ${problem}`,
  ]);
});

test("an immutable Secret stays as it is", async () => {
  const frozen = { ...rich, immutable: true };
  const text = "Forbidden: field is immutable when `immutable` is set";
  expect(await updateRefusal(path, frozen, changed(rich, "data.a", "eA=="))).toEqual([
    `immutable: ${text}`,
    `data: ${text}`,
  ]);
  expect(await updateRefusal(path, frozen, frozen)).toEqual([]);
});

test("a Secret holds a mebibyte", async () => {
  const secret = (bytes: number) => ({ stringData: { a: "x".repeat(bytes) } });
  expect(await refusal(path, secret(1024 * 1024))).toEqual([]);
  expect(await refusal(path, secret(1024 * 1024 + 1))).toEqual(["data: Too long: may not be more than 1048576 bytes"]);
});
