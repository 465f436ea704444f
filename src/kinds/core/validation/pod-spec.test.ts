import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { changed, refusal } from "../../testing.ts";

const path = "v1/pods";
const container: JsonObject = { name: "c", image: "i" };
const minimal: JsonObject = { spec: { containers: [container] } };
const selector: JsonObject = { matchLabels: { app: "a" } };
const rich: JsonObject = {
  spec: {
    containers: [{ ...container, resources: { requests: { cpu: "1" } } }],
    restartPolicy: "Never",
    terminationGracePeriodSeconds: 0,
    activeDeadlineSeconds: 1,
    dnsPolicy: "None",
    dnsConfig: {
      nameservers: ["10.0.0.1", "fd00::1"],
      searches: ["a.b.", ".", "_x.c"],
      options: [{ name: "ndots", value: "1" }],
    },
    nodeSelector: { "kubernetes.io/os": "linux" },
    serviceAccountName: "a",
    hostname: "a",
    subdomain: "b",
    hostAliases: [{ ip: "10.0.0.1", hostnames: ["a.b"] }],
    readinessGates: [{ conditionType: "example.com/ready" }],
    schedulingGates: [{ name: "example.com/gate" }],
    tolerations: [{ operator: "Exists" }, { key: "a", value: "b", effect: "NoExecute", tolerationSeconds: -1 }],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        minDomains: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: selector,
        matchLabelKeys: ["b"],
        nodeAffinityPolicy: "Honor",
      },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }],
              matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }],
            },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "Exists" }] } },
        ],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "host", labelSelector: selector, namespaces: ["n"], namespaceSelector: {} },
        ],
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, podAffinityTerm: { topologyKey: "host", labelSelector: selector } },
        ],
      },
    },
    securityContext: {
      runAsUser: 0,
      fsGroup: 1,
      supplementalGroups: [2],
      sysctls: [{ name: "kernel.shm_rmid_forced", value: "0" }],
      seccompProfile: { type: "Localhost", localhostProfile: "a.json" },
      appArmorProfile: { type: "RuntimeDefault" },
    },
    priorityClassName: "high",
    preemptionPolicy: "Never",
    runtimeClassName: "fast",
    overhead: { cpu: "1m" },
    os: { name: "linux" },
    resources: { requests: { cpu: "2" }, limits: { cpu: "3" } },
    resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpu" }],
  },
};
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const qualified =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const address = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const positive = "must be greater than zero";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a pod with %s is accepted", async (_, pod) => {
  expect(await refusal(path, pod)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["containers", [], "containers: Required value"],
  ["containers", [container, container], 'containers[1].name: Duplicate value: "c"'],
  [
    "restartPolicy",
    "Maybe",
    'restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
  ],
  ["activeDeadlineSeconds", 0, "activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
  [
    "dnsPolicy",
    "Any",
    'dnsPolicy: Unsupported value: "Any": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
  ],
  ["dnsConfig", undefined, "dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
  [
    "dnsConfig.nameservers",
    [],
    "dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None",
  ],
  ["dnsConfig.nameservers[0]", "a", `dnsConfig.nameservers[0]: Invalid value: "a": ${address}`],
  [
    "dnsConfig.nameservers",
    ["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"],
    'dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
  ],
  ["dnsConfig.options[0].name", "", "dnsConfig.options[0]: Required value: must not be empty"],
  ["nodeSelector", { "a b": "c" }, `nodeSelector: Invalid value: "a b": ${qualified}`],
  ["serviceAccountName", "A", `serviceAccountName: Invalid value: "A": ${subdomain}`],
  ["hostname", "a.b", 'hostname: Invalid value: "a.b": must not contain dots'],
  ["subdomain", "B", `subdomain: Invalid value: "B": ${label}`],
  ["hostAliases[0].ip", "x", `hostAliases[0].ip: Invalid value: "x": ${address}`],
  ["hostAliases[0].hostnames[0]", "A", `hostAliases[0].hostnames[0]: Invalid value: "A": ${subdomain}`],
  ["readinessGates[0].conditionType", "-", `readinessGates[0].conditionType: Invalid value: "-": ${qualified}`],
  ["schedulingGates", [{ name: "a" }, { name: "a" }], 'schedulingGates[1]: Duplicate value: "a"'],
  ["nodeName", "n", "nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
  [
    "tolerations",
    [{ key: "a", operator: "Exists", value: "b" }],
    "tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
  ],
  [
    "tolerations",
    [{ tolerationSeconds: 1 }],
    'tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    "tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
  ],
  [
    "tolerations",
    [{ key: "a", effect: "Never" }],
    'tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
  ["topologySpreadConstraints[0].maxSkew", 0, `topologySpreadConstraints[0].maxSkew: Invalid value: 0: ${positive}`],
  [
    "topologySpreadConstraints[0].topologyKey",
    "",
    "topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
  ],
  [
    "topologySpreadConstraints[0].whenUnsatisfiable",
    "Wait",
    'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Wait": supported values: "DoNotSchedule", "ScheduleAnyway"',
    "topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Wait",
  ],
  [
    "topologySpreadConstraints[0].labelSelector",
    undefined,
    "topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
  ],
  [
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
    [],
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
  ],
  [
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator",
    "Like",
    'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
  ],
  [
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key",
    "spec.a",
    'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "spec.a": not a valid field selector key',
  ],
  [
    "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
    101,
    "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100",
  ],
  [
    "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces[0]",
    "N",
    `affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: "N": ${label}`,
  ],
  [
    "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector",
    { matchExpressions: [{ key: "a", operator: "In" }] },
    "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [
    "securityContext.fsGroup",
    -1,
    "securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
  ],
  [
    "securityContext.supplementalGroups[0]",
    -1,
    "securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
  ],
  [
    "securityContext.sysctls",
    [
      { name: "a", value: "0" },
      { name: "a", value: "0" },
      { name: "", value: "0" },
    ],
    'securityContext.sysctls[1].name: Duplicate value: "a"',
    "securityContext.sysctls[2].name: Required value",
  ],
  [
    "hostIPC",
    true,
    "securityContext.sysctls[0].name: Invalid value: \"kernel.shm_rmid_forced\": may not be specified when 'hostIPC' is true",
  ],
  [
    "securityContext.fsGroupChangePolicy",
    "Never",
    'securityContext.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"',
  ],
  [
    "securityContext.seccompProfile.localhostProfile",
    undefined,
    "securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
  ],
  [
    "securityContext.appArmorProfile.localhostProfile",
    "a",
    'securityContext.appArmorProfile.localhostProfile: Invalid value: "a": can only be set when AppArmor type is Localhost',
  ],
  [
    "securityContext.windowsOptions",
    { runAsUserName: "" },
    'securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string',
    "securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
  ],
  ["priorityClassName", "A", `priorityClassName: Invalid value: "A": ${subdomain}`],
  [
    "preemptionPolicy",
    "Always",
    'preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"',
  ],
  ["runtimeClassName", "A", `runtimeClassName: Invalid value: "A": ${subdomain}`],
  ["overhead", { cpu: "-1" }, 'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ["os.name", "plan9", 'os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  [
    "resources.requests.cpu",
    "500m",
    'resources.requests[cpu]: Invalid value: "500m": must be greater than or equal to aggregate container requests of 1',
  ],
  [
    "resourceClaims[0].resourceClaimName",
    "x",
    'resourceClaims[0]: Invalid value: {"Name":"gpu","ResourceClaimName":"x","ResourceClaimTemplateName":"gpu"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
  ],
  ["resourceClaims[0].name", "", "resourceClaims[0].name: Required value"],
  ["ephemeralContainers", [{ name: "e", image: "i" }], "ephemeralContainers: Forbidden: cannot be set on create"],
  ["shareProcessNamespace", true],
])("a pod with %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, `spec.${field}`, value))).toEqual(causes.map((cause) => `spec.${cause}`));
});

test("every mistake in a pod is reported, in upstream's order", async () => {
  const pod = {
    metadata: { annotations: { "controller.kubernetes.io/pod-deletion-cost": "cheap" } },
    spec: { restartPolicy: "Maybe", volumes: [{}], containers: [{ name: "A", ports: [{}] }], hostname: "_" },
  };
  const fields = (await refusal(path, pod)).map((cause) => cause.slice(0, cause.indexOf(": ")));
  expect(fields).toEqual([
    "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]",
    "spec.volumes[0].name",
    "spec.containers[0].name",
    "spec.containers[0].image",
    "spec.containers[0].ports[0].containerPort",
    "spec.restartPolicy",
    "spec.hostname",
  ]);
});

test("a pod with its own users has no raw block devices", async () => {
  const volumes = [{ name: "raw", persistentVolumeClaim: { claimName: "raw" } }];
  const devices = { ...container, volumeDevices: [{ name: "raw", devicePath: "/dev/raw" }] };
  const pod = {
    spec: { hostUsers: false, volumes, containers: [devices], initContainers: [{ ...devices, name: "i" }] },
  };
  const problem = "volumeDevices: Forbidden: when `hostUsers` is false";
  expect(await refusal(path, pod)).toEqual([`spec.initContainers[0].${problem}`, `spec.containers[0].${problem}`]);
});
