import { describe, expect, test } from "bun:test";
import { fieldErrorText } from "../../api/field-error.ts";
import type { ServiceSpec } from "../../api/types/core-v1.ts";
import type { IpFamily } from "../../api/validation/ip.ts";
import { completeFamilies } from "./service-families.ts";

const v4: IpFamily[] = ["IPv4"];
const dual: IpFamily[] = ["IPv4", "IPv6"];
const v6First: IpFamily[] = ["IPv6", "IPv4"];

function completed(spec: object, configured: readonly IpFamily[], old?: object): string {
  const result = { ...spec } as ServiceSpec;
  const errors = completeFamilies(result, old as ServiceSpec | undefined, configured);
  if (errors.length > 0) return errors.map(fieldErrorText).join("; ");
  return `${result.ipFamilyPolicy} ${(result.ipFamilies ?? []).join()} ${(result.clusterIPs ?? []).join()}`.trim();
}

describe("a new Service", () => {
  test.each([
    [{}, v4, "SingleStack IPv4"],
    [{}, v6First, "SingleStack IPv6"],
    [{ ipFamilyPolicy: "PreferDualStack" }, v4, "PreferDualStack IPv4"],
    [{ ipFamilyPolicy: "PreferDualStack" }, dual, "PreferDualStack IPv4,IPv6"],
    [{ ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv6"] }, dual, "PreferDualStack IPv6,IPv4"],
    [{ ipFamilyPolicy: "RequireDualStack" }, dual, "RequireDualStack IPv4,IPv6"],
    [{ clusterIP: "fd00::5", clusterIPs: ["fd00::5"] }, dual, "SingleStack IPv6 fd00::5"],
    [{ clusterIP: "None", clusterIPs: ["None"], selector: { a: "b" } }, dual, "SingleStack IPv4 None"],
    [{ clusterIP: "None", clusterIPs: ["None"] }, v4, "RequireDualStack IPv4,IPv6 None"],
    [{ clusterIP: "None", clusterIPs: ["None"], ipFamilyPolicy: "SingleStack" }, dual, "SingleStack IPv4 None"],
    [{ type: "ExternalName" }, v4, "undefined"],
  ])("%j on %j: %s", (spec, configured, expected) => {
    expect(completed(spec, configured)).toBe(expected);
  });

  test.each([
    [
      { ipFamilyPolicy: "RequireDualStack" },
      v4,
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      { ipFamilies: ["IPv4", "IPv6"] },
      dual,
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ],
    [
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::5"] },
      dual,
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
    ],
    [{ ipFamilies: ["IPv6"] }, v4, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    [
      { clusterIP: "fd00::5", clusterIPs: ["fd00::5"] },
      v4,
      'spec.clusterIPs[0]: Invalid value: ["fd00::5"]: IPv6 is not configured on this cluster',
    ],
    [
      { clusterIPs: ["10.0.0.1"] },
      v4,
      'spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified',
    ],
    [
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.2"] },
      v4,
      'spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`',
    ],
    [
      { clusterIP: "None", clusterIPs: ["None", "10.0.0.1"] },
      v4,
      'spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value',
    ],
    [
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "10.0.0.2"] },
      dual,
      'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
    ],
    [
      { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv6"] },
      dual,
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ],
    [{ ipFamilies: ["IPv4", "IPv4"] }, dual, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'],
    [
      { ipFamilyPolicy: "Both" },
      dual,
      'spec.ipFamilyPolicy: Unsupported value: "Both": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ],
    [
      { clusterIP: "x", clusterIPs: ["x"] },
      v4,
      'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ])("%j on %j is refused: %s", (spec, configured, problem) => {
    expect(completed(spec, configured)).toBe(problem);
  });
});

describe("a change", () => {
  const single = {
    ipFamilyPolicy: "SingleStack",
    ipFamilies: ["IPv4"],
    clusterIP: "10.0.0.1",
    clusterIPs: ["10.0.0.1"],
  };
  const both = {
    ipFamilyPolicy: "PreferDualStack",
    ipFamilies: ["IPv4", "IPv6"],
    clusterIP: "10.0.0.1",
    clusterIPs: ["10.0.0.1", "fd00::1"],
  };
  test.each([
    [
      "upgrades",
      { ...single, ipFamilyPolicy: "RequireDualStack" },
      single,
      dual,
      "RequireDualStack IPv4,IPv6 10.0.0.1",
    ],
    ["downgrades", { ...both, ipFamilyPolicy: "SingleStack" }, both, dual, "SingleStack IPv4 10.0.0.1"],
    [
      "keeps the policy that it does not name",
      { ...single, ipFamilyPolicy: undefined },
      single,
      v4,
      "SingleStack IPv4 10.0.0.1",
    ],
    [
      "does not upgrade because the cluster has",
      { ...single, ipFamilyPolicy: "PreferDualStack" },
      { ...single, ipFamilyPolicy: "PreferDualStack" },
      dual,
      "PreferDualStack IPv4 10.0.0.1",
    ],
    [
      "cannot drop the second address and family without saying so",
      { ...both, clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
      both,
      dual,
      "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be 'SingleStack' to release the secondary cluster IP; spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be 'SingleStack' to release the secondary IP family",
    ],
    ["does not downgrade because the cluster has", both, both, v4, "PreferDualStack IPv4,IPv6 10.0.0.1,fd00::1"],
  ] as const)("%s", (_, spec, old, configured, expected) => {
    expect(completed(spec, configured, old)).toBe(expected);
  });
});
