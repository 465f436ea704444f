import { expect, test } from "bun:test";
import { RowTime } from "../../api/codec/table/row-time.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";
import { ipAddress } from "./ip-address.ts";

const path = "networking.k8s.io/v1/ipaddresses";
const minimal: JsonObject = {
  metadata: { name: "10.0.0.7" },
  spec: { parentRef: { resource: "services", name: "web", namespace: "n" } },
};
const rich: JsonObject = {
  metadata: { name: "fd00::7" },
  spec: { parentRef: { group: "example.com", resource: "gateways", name: "web", namespace: "n" } },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("an IPAddress with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "metadata.name",
    "a",
    ['metadata.name: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  ["metadata.name", "010.0.0.7", ['metadata.name: Invalid value: "010.0.0.7": must not have leading 0s']],
  ["metadata.name", "fd00:0::7", ['metadata.name: Invalid value: "fd00:0::7": must be in canonical form ("fd00::7")']],
  ["spec.parentRef", undefined, ["spec.parentRef: Required value"]],
  ["spec.parentRef.resource", "", ["spec.parentRef.resource: Required value"]],
  ["spec.parentRef.name", undefined, ["spec.parentRef.name: Required value"]],
  ["spec.parentRef.namespace", "a/b", ["spec.parentRef.namespace: Invalid value: \"a/b\": may not contain '/'"]],
  [
    "spec.parentRef.group",
    "A_",
    [
      "spec.parentRef.group: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
])("an IPAddress with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.parentRef.name",
    "other",
    [
      'spec.parentRef: Invalid value: {"Group":"example.com","Resource":"gateways","Namespace":"n","Name":"other"}: field is immutable',
    ],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("a row ends with the age, which has no column", () => {
  const metadata = { name: "192.0.2.1", creationTimestamp: "2026-01-01T00:00:00Z" };
  const object = { kind: "IPAddress", apiVersion: "networking.k8s.io/v1", metadata };
  const row = ipAddress.table?.row?.(object, new RowTime(Date.parse("2026-01-01T00:05:00Z")));
  expect(row).toEqual(["192.0.2.1", "<none>", "5m"]);
});
