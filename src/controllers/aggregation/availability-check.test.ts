import { expect, test } from "bun:test";
import { Readable } from "node:stream";
import type { Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import { BackendError } from "../../client/aggregation/aggregated-backend.ts";
import type { RemoteApi } from "../../client/aggregation/remote-api.ts";
import { systemClock } from "../../process/clock.ts";
import { type AvailabilityCheckParts, checkAvailability } from "./availability-check.ts";

const remote: RemoteApi = { namespace: "n", name: "s", port: 443, authorities: undefined, insecure: false };
const service: Service = {
  kind: "Service",
  apiVersion: "v1",
  metadata: { name: "s", namespace: "n" },
  spec: { type: "ClusterIP", clusterIP: "10.0.0.1", ports: [{ name: "web", port: 443 }] },
};
const slice: EndpointSlice = {
  kind: "EndpointSlice",
  apiVersion: "discovery.k8s.io/v1",
  metadata: { name: "s-1" },
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.1.1.1"] }],
  ports: [{ name: "web", port: 8443 }],
};
const url = "https://10.0.0.1:443/apis/g/v1";

type Send = AvailabilityCheckParts["backends"]["send"];

function answering(...codes: number[]): Send {
  let at = 0;
  return async () => {
    const code = codes[at++ % codes.length] ?? 200;
    return { code, headers: [], body: Readable.from([]) as never };
  };
}

interface Situation {
  readonly found: Service | undefined;
  readonly slices: EndpointSlice[];
  readonly send: Send;
}

function check({ found, slices, send }: Situation, target = remote) {
  return checkAvailability(target, "/apis/g/v1", {
    clock: systemClock,
    services: { service: () => found, endpointSlices: () => slices },
    backends: {
      resolve: () => ({ host: "10.0.0.1", port: 443 }),
      tlsOf: () => ({ servername: "s.n.svc", rejectUnauthorized: true, allowPartialTrustChain: true }),
      forgetIdle() {},
      send,
    },
  });
}

const good: Situation = { found: service, slices: [slice], send: answering(200) };
const withSpec = (spec: object): Service => ({ ...service, spec: { ...service.spec, ...spec } });
const refused = () =>
  Promise.reject(new BackendError("unreachable", "dial tcp 10.0.0.1:443: connect: connection refused"));

test.each<[what: string, parts: Partial<Situation>, reason: string, message: string]>([
  ["all is well", {}, "Passed", "all checks passed"],
  ["there is no service", { found: undefined }, "ServiceNotFound", 'service/s in "n" is not present'],
  [
    "the service has another port",
    { found: withSpec({ ports: [{ port: 80 }] }) },
    "ServicePortError",
    'service/s in "n" is not listening on port 443',
  ],
  ["there are no slices", { slices: [] }, "EndpointsNotFound", 'cannot find endpointslices for service/s in "n"'],
  [
    "no endpoint is ready",
    { slices: [{ ...slice, endpoints: [{ addresses: ["10.1.1.1"], conditions: { ready: false } }] }] },
    "MissingEndpoints",
    'endpointslices for service/s in "n" have no addresses with port name "web"',
  ],
  [
    "the endpoints have another port",
    { slices: [{ ...slice, ports: [{ name: "other", port: 1 }] }] },
    "MissingEndpoints",
    'endpointslices for service/s in "n" have no addresses with port name "web"',
  ],
  [
    "a service without a cluster address has no slices",
    { found: withSpec({ type: "ExternalName" }), slices: [] },
    "Passed",
    "all checks passed",
  ],
  [
    "all answers are bad",
    { send: answering(403) },
    "FailedDiscoveryCheck",
    `failing or missing response from ${url}: bad status from ${url}: 403`,
  ],
  ["one answer of several is good", { send: answering(500, 500, 500, 200) }, "Passed", "all checks passed"],
  [
    "an answer redirects",
    { send: answering(302) },
    "FailedDiscoveryCheck",
    `failing or missing response from ${url}: bad status from ${url}: 302`,
  ],
  [
    "nobody answers",
    { send: refused },
    "FailedDiscoveryCheck",
    `failing or missing response from ${url}: Get "${url}": dial tcp 10.0.0.1:443: connect: connection refused`,
  ],
])("when %s, the reason is as upstream's", async (_what, parts, reason, message) => {
  const status = reason === "Passed" ? "True" : "False";
  expect(await check({ ...good, ...parts })).toEqual({ status, reason, message });
});

test("the check asks as a user whom every backend must answer", async () => {
  const users = new Set<string>();
  const send: Send = async (_remote, { user, method, target }) => {
    users.add([user.name, ...user.groups, method, target].join(" "));
    return { code: 200, headers: [], body: Readable.from([]) as never };
  };
  await check({ ...good, send });
  expect([...users]).toEqual(["system:kube-aggregator system:masters GET /apis/g/v1"]);
});
