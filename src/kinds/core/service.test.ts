import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "v1/services";
const minimal: JsonObject = { spec: { ports: [{ port: 80 }] } };
const rich: JsonObject = {
  spec: {
    type: "LoadBalancer",
    selector: { app: "web" },
    ports: [
      { name: "http", port: 80, targetPort: "web", protocol: "TCP", appProtocol: "http", nodePort: 30080 },
      { name: "dns", port: 53, targetPort: 5353, protocol: "UDP" },
    ],
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 300 } },
    externalIPs: ["203.0.113.7"],
    loadBalancerSourceRanges: ["10.0.0.0/8"],
    externalTrafficPolicy: "Local",
    internalTrafficPolicy: "Cluster",
    loadBalancerClass: "example.com/lb",
    allocateLoadBalancerNodePorts: true,
    publishNotReadyAddresses: true,
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a Service with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["metadata.name", "1web", []],
  [
    "metadata.name",
    "Web",
    [
      "metadata.name: Invalid value: \"Web\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["spec.ports", [], ["spec.ports: Required value"]],
  ["spec.ports[0].port", 0, ["spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"]],
  ["spec.ports[0].port", 65536, ["spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive"]],
  ["spec.ports[0].name", "", ["spec.ports[0].name: Required value"]],
  [
    "spec.ports[0].name",
    "HTTP",
    [
      "spec.ports[0].name: Invalid value: \"HTTP\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["spec.ports[1].name", "http", ['spec.ports[1].name: Duplicate value: "http"']],
  [
    "spec.ports[0].protocol",
    "ICMP",
    ['spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    "spec.ports[0].targetPort",
    "not a port",
    [
      'spec.ports[0].targetPort: Invalid value: "not a port": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    "spec.ports[0].appProtocol",
    "a b",
    [
      "spec.ports[0].appProtocol: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.ports[1]",
    { name: "x", port: 80 },
    [
      "spec.ports[1].nodePort: Duplicate value: 30080",
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ],
  ],
  [
    "spec.type",
    "Magic",
    [
      'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
    ],
  ],
  [
    "spec.type",
    "ExternalName",
    [
      "spec.externalName: Required value",
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
    ],
  ],
  [
    "spec.selector",
    { "a b": "c" },
    [
      "spec.selector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.sessionAffinity",
    "Cookie",
    ['spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"'],
  ],
  [
    "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
    0,
    [
      "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400",
    ],
  ],
  [
    "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
    100000,
    [
      "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 100000: must be greater than 0 and less than 86400",
    ],
  ],
  [
    "spec.externalIPs",
    ["1.2.3"],
    ['spec.externalIPs[0]: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    "spec.externalIPs",
    ["127.0.0.1"],
    ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    "spec.loadBalancerSourceRanges",
    ["10.0.0.0"],
    [
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  ],
  [
    "spec.externalTrafficPolicy",
    "Near",
    ['spec.externalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"'],
  ],
  [
    "spec.internalTrafficPolicy",
    "Near",
    ['spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"'],
  ],
  [
    "spec.loadBalancerClass",
    "a b",
    [
      "spec.loadBalancerClass: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.trafficDistribution",
    "Near",
    [
      'spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ],
  ],
])("a Service with %s = %j has these mistakes", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.clusterIP", "10.0.0.99", ['spec.clusterIPs[0]: Invalid value: ["10.0.0.99"]: may not change once set']],
  [
    "spec.loadBalancerClass",
    "example.com/other",
    ['spec.loadBalancerClass: Invalid value: "example.com/other": may not change once set'],
  ],
  ["spec.ports[0].port", 8080, []],
  [
    "spec.type",
    "ExternalName",
    [
      "spec.externalName: Required value",
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
    ],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("no list of a Service takes longer than its length", async () => {
  const ipFamilies = Array.from({ length: 50_000 }, (_, at) => `IPv${at}`);
  const started = process.cpuUsage().user;
  expect((await refusal(path, changed(rich, "spec.ipFamilies", ipFamilies))).length).toBeLessThan(300);
  expect(process.cpuUsage().user - started).toBeLessThan(3_000_000);
});

const onPort80 = (spec: JsonObject): JsonObject => ({ spec: { ports: [{ port: 80 }], ...spec } });
const at = (ip: string) => onPort80({ clusterIP: ip, clusterIPs: [ip] });
const external = { type: "ExternalName", externalName: "x.example.com" };

test.each<[string, JsonObject, JsonObject, string[]]>([
  [
    "another address",
    at("10.0.0.10"),
    at("10.0.0.11"),
    ['spec.clusterIPs[0]: Invalid value: ["10.0.0.11"]: may not change once set'],
  ],
  [
    "no address any more",
    at("10.0.0.10"),
    at("None"),
    ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
  ],
  ["a name instead of an address", at("10.0.0.10"), onPort80(external), []],
  [
    "a class of balancers for one that has a balancer",
    onPort80({ type: "LoadBalancer" }),
    onPort80({ type: "LoadBalancer", loadBalancerClass: "example.com/x" }),
    ['spec.loadBalancerClass: Invalid value: "example.com/x": may not change once set'],
  ],
])("an update to %s gets the expected answer", async (_, before, after, causes) => {
  expect(await updateRefusal(path, before, after)).toEqual(causes);
});

test.each<[JsonObject, string[]]>([
  [
    { type: "NodePort", clusterIP: "None" },
    ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
  ],
  [{ ...external, clusterIP: "10.0.0.9" }, ["spec.clusterIPs: Forbidden: may not be set for ExternalName services"]],
])("a Service with %j is refused", async (spec, causes) => {
  expect(await refusal(path, onPort80(spec))).toEqual(causes);
});

test("the points of a balancer are checked, and only balancers have them", async () => {
  const points = [{ ip: "x" }, { hostname: "10.0.0.1" }, { ip: "10.0.0.1", ipMode: "Weird" }];
  const status = { status: { loadBalancer: { ingress: points } } };
  const field = "status.loadBalancer.ingress";
  expect(await updateRefusal(path, onPort80({ type: "LoadBalancer" }), status, "status")).toEqual([
    `${field}[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
    `${field}[0].ipMode: Required value: must be specified when \`ip\` is set`,
    `${field}[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`,
    `${field}[2].ipMode: Unsupported value: "Weird": supported values: "Proxy", "VIP"`,
  ]);
  const point = { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
  expect(await updateRefusal(path, onPort80({}), point, "status")).toEqual([
    `${field}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`,
  ]);
});
