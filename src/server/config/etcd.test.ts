import { expect, test } from "bun:test";
import { etcdOptionsOf } from "./etcd.ts";
import type { FlagOptions } from "./flags.ts";

const etcdServers = ["https://10.0.0.1:2379", "http://[::1]:2379", "unix:///run/etcd.sock"];

test("without servers, this server keeps the objects itself", () => {
  expect(etcdOptionsOf({})).toBeUndefined();
  expect(etcdOptionsOf({ etcdPrefix: "/other" })).toBeUndefined();
});

test("endpoints keep their order, and everything else has upstream's defaults", () => {
  expect(etcdOptionsOf({ etcdServers })).toEqual({
    endpoints: [
      { url: "https://10.0.0.1:2379", address: { host: "10.0.0.1", port: 2379 }, host: "10.0.0.1", isSecure: true },
      { url: "http://[::1]:2379", address: { host: "::1", port: 2379 }, host: "::1", isSecure: false },
      { url: "unix:///run/etcd.sock", address: { path: "/run/etcd.sock" }, host: "localhost", isSecure: false },
    ],
    files: { ca: undefined, certificate: undefined, key: undefined },
    prefix: "/registry",
    mediaType: "application/vnd.kubernetes.protobuf",
    compactionIntervalMs: 300_000,
    healthcheckTimeoutMs: 2_000,
    readycheckTimeoutMs: 2_000,
    dbMetricPollIntervalMs: 30_000,
    leaseReuseMs: 60_000,
  });
});

test("Events can have an etcd of their own", () => {
  const options = etcdOptionsOf({ etcdServers, etcdServersOverrides: ["/events#http://b:1;http://c:1"] });
  expect(options?.eventEndpoints?.map(({ url }) => url)).toEqual(["http://b:1", "http://c:1"]);
});

test.each<[FlagOptions, string]>([
  [{ etcdServers: ["10.0.0.1:2379"] }, '--etcd-servers: "10.0.0.1:2379" is not the address of an etcd server'],
  [{ etcdServers: ["ftp://10.0.0.1"] }, '--etcd-servers: "ftp://10.0.0.1" is not the address of an etcd server'],
  [{ etcdServers: Array(33).fill("http://a:1") }, "--etcd-servers: 33 endpoints are given, and at most 32 are used"],
  [{ etcdServers, etcdCertfile: "a.pem" }, "--etcd-certfile and --etcd-keyfile belong together"],
  [{ etcdCafile: "ca.pem" }, "--etcd-cafile needs --etcd-servers"],
  [{ etcdServersOverrides: ["/events#http://b:1"] }, "--etcd-servers-overrides needs --etcd-servers"],
  [{ etcdServers, etcdServersOverrides: ["/events"] }, "must be of format: group/resource#servers"],
  [{ etcdServers, etcdServersOverrides: ["events#http://b:1"] }, "must be of format: group/resource#servers"],
  [{ etcdServers, etcdServersOverrides: ["/events#http://b:1;"] }, "must be of format: group/resource#servers"],
  [{ etcdServers, etcdServersOverrides: ["/events#b:1"] }, '--etcd-servers-overrides: "b:1" is not the address'],
  [
    { etcdServers, etcdServersOverrides: ["apps/deployments#http://b:1"] },
    "only Events can be in an etcd of their own: keep apps/deployments in the etcd of --etcd-servers",
  ],
  [
    { etcdServers, etcdServersOverrides: ["/events#http://b:1", "/events#http://c:1"] },
    "the servers of /events are given twice",
  ],
])("refuses %j", (options, message) => {
  expect(() => etcdOptionsOf(options)).toThrow(message);
});
