import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import { withAlignedAddresses } from "./pod-addresses.ts";

const ips = (...texts: string[]) => texts.map((ip) => ({ ip }));

test.each<[JsonObject, JsonObject]>([
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
])("withAlignedAddresses() makes of %j %j", (status, expected) => {
  expect(withAlignedAddresses(status)).toEqual(expected);
});
