import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { type Kind, strategyOf } from "../../registry/kind.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";
import { endpointSlice } from "./endpoint-slice.ts";

const path = "discovery.k8s.io/v1/endpointslices";
const minimal: JsonObject = { addressType: "IPv4", endpoints: [] };
const rich: JsonObject = {
  addressType: "IPv4",
  endpoints: [
    {
      addresses: ["10.0.0.7"],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: "web-0",
      nodeName: "node-1",
      zone: "a",
      hints: { forZones: [{ name: "a" }] },
      deprecatedTopology: { x: "y" },
      targetRef: { kind: "Pod", name: "web-0", namespace: "n" },
    },
  ],
  ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "kubernetes.io/h2c" }, { name: "" }],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("an EndpointSlice with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["addressType", undefined, ["addressType: Required value"]],
  ["addressType", "DNS", ['addressType: Unsupported value: "DNS": supported values: "FQDN", "IPv4", "IPv6"']],
  ["endpoints[0].addresses", [], ["endpoints[0].addresses: Required value: must contain at least 1 address"]],
  [
    "endpoints[0].addresses",
    ["10.0.0"],
    [
      'endpoints[0].addresses[0]: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ],
  [
    "endpoints[0].addresses",
    ["fd00::1"],
    ['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address'],
  ],
  [
    "endpoints[0].addresses",
    ["127.0.0.1", "169.254.0.1", "0.0.0.0", "224.0.0.1"],
    [
      'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'endpoints[0].addresses[1]: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'endpoints[0].addresses[2]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'endpoints[0].addresses[3]: Invalid value: "224.0.0.1": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ],
  ],
  [
    "endpoints[0].hostname",
    "Web",
    [
      "endpoints[0].hostname: Invalid value: \"Web\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "endpoints[0].nodeName",
    "Node",
    [
      "endpoints[0].nodeName: Invalid value: \"Node\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "endpoints[0].hints.forZones",
    [{ name: "a" }, { name: "a" }],
    ['endpoints[0].hints.forZones[1].name: Duplicate value: "a"'],
  ],
  [
    "endpoints[0].hints.forZones",
    [{ name: "-" }],
    [
      "endpoints[0].hints.forZones[0].name: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  ["endpoints[0].deprecatedTopology", { "a b": "c" }, []],
  [
    "ports[0].name",
    "Http",
    [
      "ports[0].name: Invalid value: \"Http\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["ports[1].name", "http", ['ports[1].name: Duplicate value: "http"']],
  [
    "ports[0].protocol",
    "HTTP",
    ['ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    "ports[0].appProtocol",
    "-",
    [
      "ports[0].appProtocol: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
])("an EndpointSlice with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["addressType", "IPv6", ['addressType: Invalid value: "IPv6": field is immutable']],
  ["ports[0].port", 81, []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test.each<[what: string, slice: JsonObject, old: JsonObject | undefined, warnings: string[]]>([
  ["new names", { addressType: "FQDN" }, undefined, ["spec.addressType: FQDN endpoints are deprecated"]],
  ["stored names", { addressType: "FQDN" }, { addressType: "FQDN" }, []],
  [
    "an unusual address",
    { addressType: "IPv6", endpoints: [{ addresses: ["FD00::1"] }] },
    undefined,
    ['endpoints[0].addresses[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")'],
  ],
])("warnings about %s", (_, fields, old, expected) => {
  const { warnings } = strategyOf(endpointSlice as Kind);
  const slice = (of: JsonObject) => ({ kind: "", apiVersion: "", metadata: {}, endpoints: [], ports: [], ...of });
  expect(warnings?.(slice(fields), old && slice(old)) as string[]).toEqual(expected);
});

test("a node in the old topology moves to nodeName if the stored slice named it there", () => {
  const strategy = strategyOf(endpointSlice as Kind);
  const slice = (addresses: string[]) =>
    ({
      kind: "",
      apiVersion: "",
      metadata: {},
      endpoints: [{ addresses, deprecatedTopology: { "kubernetes.io/hostname": "n" } }],
    }) as unknown as KubeObject;
  const fresh = slice(["10.0.0.2"]);
  strategy.prepareForUpdate(fresh, slice(["10.0.0.1"]), 0);
  expect(fresh["endpoints"]).toEqual([{ addresses: ["10.0.0.2"], nodeName: "n" }]);
});
