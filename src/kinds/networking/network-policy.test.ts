import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updated } from "../testing.ts";

const path = "networking.k8s.io/v1/networkpolicies";
const minimal: JsonObject = { spec: {} };
const rich: JsonObject = {
  spec: {
    podSelector: { matchLabels: { app: "db" } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        from: [
          { podSelector: {}, namespaceSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] } },
          { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
        ],
        ports: [{ protocol: "TCP", port: 5432 }, { port: 8000, endPort: 8010 }, { port: "http" }],
      },
    ],
    egress: [{ to: [{ podSelector: {} }] }, {}],
  },
};

test.each<[spec: JsonObject, generation: number]>([
  [{}, 1],
  [{ policyTypes: [] }, 1],
  [{ egress: [] }, 2],
  [{ podSelector: { matchLabels: {} } }, 2],
])("the generation counts an empty list or map, as in %j", async (spec, generation) => {
  expect((await updated(path, minimal, { spec })).metadata.generation).toBe(generation);
});

test.each([
  ["little", minimal],
  ["everything", rich],
])("a NetworkPolicy with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.podSelector",
    { matchLabels: { "a b": "c" } },
    [
      "spec.podSelector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.podSelector",
    { matchExpressions: [{ key: "a", operator: "In" }] },
    [
      "spec.podSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  ],
  [
    "spec.policyTypes",
    ["Ingress", "Both"],
    ['spec.policyTypes[1]: Unsupported value: "Both": supported values: "Ingress", "Egress"'],
  ],
  [
    "spec.policyTypes",
    ["Ingress", "Egress", "Ingress"],
    ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes'],
  ],
  ["spec.ingress[0].from[0]", {}, ["spec.ingress[0].from[0]: Required value: must specify a peer"]],
  [
    "spec.ingress[0].from[0].ipBlock",
    { cidr: "10.0.0.0/8" },
    ["spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer"],
  ],
  ["spec.ingress[0].from[1].ipBlock", {}, ["spec.ingress[0].from[1].ipBlock.cidr: Required value"]],
  [
    "spec.ingress[0].from[1].ipBlock.cidr",
    "10.0.0.0",
    [
      'spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    "spec.ingress[0].from[1].ipBlock.except",
    ["11.0.0.0/8", "10.0.0.0/8"],
    [
      'spec.ingress[0].from[1].ipBlock.except[0]: Invalid value: "11.0.0.0/8": must be a strict subset of `cidr`',
      'spec.ingress[0].from[1].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    ],
  ],
  [
    "spec.ingress[0].ports[0].protocol",
    "HTTP",
    ['spec.ingress[0].ports[0].protocol: Unsupported value: "HTTP": supported values: "TCP", "UDP", "SCTP"'],
  ],
  [
    "spec.ingress[0].ports[0].port",
    0,
    ["spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
  ],
  [
    "spec.ingress[0].ports[0].port",
    "Http!",
    [
      'spec.ingress[0].ports[0].port: Invalid value: "Http!": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    "spec.ingress[0].ports[1].endPort",
    7999,
    ["spec.ingress[0].ports[1].endPort: Invalid value: 8000: must be greater than or equal to `port`"],
  ],
  [
    "spec.ingress[0].ports[1].port",
    undefined,
    ["spec.ingress[0].ports[1].endPort: Invalid value: 8010: may not be specified when `port` is not specified"],
  ],
  [
    "spec.ingress[0].ports[2].endPort",
    9000,
    ["spec.ingress[0].ports[2].endPort: Invalid value: 9000: may not be specified when `port` is non-numeric"],
  ],
])("a NetworkPolicy with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
