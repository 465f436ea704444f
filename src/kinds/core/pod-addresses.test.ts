import { expect, test } from "bun:test";
import type { PodStatus } from "../../api/types/core-v1.ts";
import { alignAddresses } from "./pod-addresses.ts";

const ips = (...texts: string[]) => texts.map((ip) => ({ ip }));

test.each<[PodStatus, PodStatus]>([
  [{}, {}],
  [{ podIP: "10.0.0.1" }, { podIP: "10.0.0.1", podIPs: ips("10.0.0.1") }],
  [{ podIPs: ips("10.0.0.1", "fd00::1") }, { podIP: "10.0.0.1", podIPs: ips("10.0.0.1", "fd00::1") }],
  [
    { podIP: "10.0.0.1", podIPs: ips("10.0.0.1", "fd00::1") },
    { podIP: "10.0.0.1", podIPs: ips("10.0.0.1", "fd00::1") },
  ],
  [
    { podIP: "10.0.0.2", podIPs: ips("10.0.0.1", "fd00::1") },
    { podIP: "10.0.0.2", podIPs: ips("10.0.0.2") },
  ],
])("alignAddresses() makes of %j %j", (status, expected) => {
  const aligned = structuredClone(status);
  alignAddresses(aligned);
  expect(aligned).toEqual(expected);
});
