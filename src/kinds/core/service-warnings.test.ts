import { expect, test } from "bun:test";
import type { ServiceSpec } from "../../api/types/core-v1.ts";
import { serviceWarnings } from "./service-warnings.ts";

const warningsOf = (spec: ServiceSpec, annotations: Record<string, string> = {}) =>
  serviceWarnings({ apiVersion: "v1", kind: "Service", metadata: { annotations }, spec });
const deprecated = "spec.externalIPs is deprecated and may no longer be implemented in some clusters";

test.each<[spec: ServiceSpec, ...warnings: string[]]>([
  [{ type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] }],
  [{ type: "ClusterIP", externalIPs: ["1.2.3.4"] }, deprecated],
  [{ type: "ExternalName", externalIPs: ["1.2.3.4"] }, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
  [{ type: "ClusterIP", externalName: "a.b" }, 'spec.externalName is ignored when spec.type is not "ExternalName"'],
  [
    {
      type: "ClusterIP",
      clusterIP: "None",
      clusterIPs: ["None"],
      externalIPs: ["1.2.3.4"],
      sessionAffinity: "ClientIP",
    },
    "spec.externalIPs is ignored for headless services",
    "spec.SessionAffinity is ignored for headless services",
  ],
  [
    { type: "ClusterIP", trafficDistribution: "PreferClose" },
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ],
])("a service with %j is warned about", (spec, ...warnings) => {
  expect(warningsOf(spec)).toEqual(warnings);
});

test("an old annotation names its successor", () => {
  expect(warningsOf({}, { "service.kubernetes.io/topology-aware-hints": "auto" })).toEqual([
    "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead",
  ]);
});
