import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "v1/endpoints";
const minimal: JsonObject = {};
const rich: JsonObject = {
  subsets: [
    {
      addresses: [{ ip: "10.0.0.7", hostname: "web-0", nodeName: "node-1" }],
      notReadyAddresses: [{ ip: "10.0.0.8" }],
      ports: [
        { name: "http", port: 80, protocol: "TCP" },
        { name: "https", port: 443 },
      ],
    },
  ],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("an Endpoints with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["subsets[0]", {}, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]],
  [
    "subsets[0].addresses[0].ip",
    "",
    [
      'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].addresses[0].ip: Invalid value: "": must be a valid IP address',
    ],
  ],
  [
    "subsets[0].addresses[0].ip",
    "10.0.0",
    [
      'subsets[0].addresses[0].ip: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'subsets[0].addresses[0].ip: Invalid value: "10.0.0": must be a valid IP address',
    ],
  ],
  [
    "subsets[0].addresses[0].ip",
    "127.0.0.1",
    ['subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    "subsets[0].addresses[0].ip",
    "169.254.1.1",
    [
      'subsets[0].addresses[0].ip: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    ],
  ],
  [
    "subsets[0].addresses[0].ip",
    "::ffff:127.0.0.1",
    [
      'subsets[0].addresses[0].ip: Invalid value: "::ffff:127.0.0.1": must not be an IPv4-mapped IPv6 address',
      'subsets[0].addresses[0].ip: Invalid value: "::ffff:127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ],
  ],
  [
    "subsets[0].addresses[0].hostname",
    "Web",
    [
      "subsets[0].addresses[0].hostname: Invalid value: \"Web\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "subsets[0].addresses[0].nodeName",
    "Node",
    [
      "subsets[0].addresses[0].nodeName: Invalid value: \"Node\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "subsets[0].ports[0].port",
    0,
    ["subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
  ],
  ["subsets[0].ports[0].name", "", ["subsets[0].ports[0].name: Required value"]],
  [
    "subsets[0].ports[0].name",
    "Http",
    [
      "subsets[0].ports[0].name: Invalid value: \"Http\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "subsets[0].ports[0].protocol",
    "X",
    ['subsets[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    "subsets[0].ports[0].appProtocol",
    "a b",
    [
      "subsets[0].ports[0].appProtocol: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
])("an Endpoints with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["subsets[0].addresses[0].nodeName", "node-2", []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
