import { expect, test } from "bun:test";
import type { Pod } from "../../api/types/core-v1.ts";
import { hostsFile } from "./hosts-file.ts";

function pod(spec: object): Pod {
  const metadata = { name: "web", namespace: "shop" };
  return { kind: "Pod", apiVersion: "v1", metadata, spec: { containers: null, ...spec } };
}

const fixed = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`;

test("the hosts file has the addresses of the pod", () => {
  expect(hostsFile(pod({}), ["10.0.0.7", "fd00::7"], "", "cluster.local")).toBe(
    `${fixed}10.0.0.7\tweb\nfd00::7\tweb\n`,
  );
});

test("a subdomain makes a full name, and aliases follow", () => {
  const spec = { hostname: "one", subdomain: "db", hostAliases: [{ ip: "1.2.3.4", hostnames: ["a", "b"] }] };
  expect(hostsFile(pod(spec), ["10.0.0.7"], "", "cluster.local")).toBe(
    `${fixed}10.0.0.7\tone.db.shop.svc.cluster.local\tone\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n`,
  );
});

test("a name that replaces all others stands alone", () => {
  const spec = { hostname: "one", subdomain: "db", hostnameOverride: "www.example.com" };
  expect(hostsFile(pod(spec), ["10.0.0.7"], "", "cluster.local")).toBe(`${fixed}10.0.0.7\twww.example.com\n`);
});

test("a pod on the network of the host has the host's entries", () => {
  expect(hostsFile(pod({ hostNetwork: true }), ["10.0.0.7"], "127.0.0.1 localhost\n", "cluster.local")).toBe(
    "# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n",
  );
});
