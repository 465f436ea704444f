import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import { podWarnings } from "./pod-warnings.ts";

const container = { name: "c", image: "i" };
const noMatch = "a null labelSelector results in matching no pod";

test.each<[spec: JsonObject, ...warnings: string[]]>([
  [{ containers: [container] }],
  [
    { nodeSelector: { "beta.kubernetes.io/os": "linux", a: "b" } },
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ],
  [
    { topologySpreadConstraints: [{ topologyKey: "failure-domain.beta.kubernetes.io/zone" }] },
    'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    `spec.topologySpreadConstraints[0].labelSelector: ${noMatch}`,
  ],
  [
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "a" }] } } },
    `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: ${noMatch}`,
  ],
  [{ volumes: [{ name: "v", cephfs: {} }] }, "spec.volumes[0].cephfs: deprecated in v1.28, non-functional in v1.31+"],
  [{ hostAliases: [{ ip: "1.1.1.1" }, { ip: "1.1.1.1" }] }, 'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'],
  [
    { imagePullSecrets: [{ name: "a" }, { name: "a" }, {}] },
    'spec.imagePullSecrets[1].name: duplicate name "a"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
  ],
  [
    { containers: [{ ...container, resources: { limits: { memory: "100m" } } }] },
    'spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
  ],
  [
    {
      containers: [
        {
          ...container,
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "2" },
          ],
        },
      ],
    },
    'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
  ],
  [
    {
      containers: [
        {
          ...container,
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "$(A)2" },
          ],
        },
      ],
    },
  ],
  [
    {
      containers: [
        { ...container, ports: [{ containerPort: 1 }, { containerPort: 1 }, { containerPort: 1, hostPort: 2 }] },
      ],
    },
    "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
    "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[0]",
    "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[1]",
  ],
])("a pod with %j is warned of", (spec, ...warnings) => {
  expect(podWarnings({ spec: { containers: null, ...spec } }, "")).toEqual(warnings);
});

test("paths lead to the template that the pod is in", () => {
  const metadata = { annotations: { "scheduler.alpha.kubernetes.io/critical-pod": "" } };
  expect(
    podWarnings(
      { metadata, spec: { containers: null, nodeSelector: { "beta.kubernetes.io/arch": "a" } } },
      "spec.template",
    ),
  ).toEqual([
    'spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead',
    'spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
  ]);
});

test("a hundred are enough", () => {
  const ports = Array.from({ length: 2000 }, () => ({ containerPort: 1 }));
  expect(podWarnings({ spec: { containers: [{ ...container, ports }] } }, "")).toHaveLength(100);
});
