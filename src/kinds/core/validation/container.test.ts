import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { changed, refusal } from "../../testing.ts";

const path = "v1/pods";
const pod: JsonObject = {
  spec: {
    volumes: [
      { name: "files", emptyDir: {} },
      { name: "disk", persistentVolumeClaim: { claimName: "disk" } },
    ],
    resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }],
    initContainers: [
      { name: "migrate", image: "i:1" },
      { name: "proxy", image: "i:1", restartPolicy: "Always", readinessProbe: { tcpSocket: { port: 1 } } },
    ],
    containers: [
      {
        name: "web",
        image: "i:1",
        ports: [{ name: "http", containerPort: 80 }],
        envFrom: [{ prefix: "A_", configMapRef: { name: "a" } }, { secretRef: { name: "a" } }],
        env: [
          { name: "PLAIN", value: "$(OTHER)" },
          { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } },
          { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
          { name: "KEY", valueFrom: { secretKeyRef: { name: "a", key: "b" } } },
        ],
        resources: {
          limits: { cpu: "1", memory: "1Gi", "example.com/device": 1, "hugepages-2Mi": "2Mi" },
          requests: { cpu: "1m", memory: "1" },
          claims: [{ name: "gpu" }],
        },
        resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
        volumeMounts: [{ name: "files", mountPath: "/a", subPath: "b" }],
        volumeDevices: [{ name: "disk", devicePath: "/dev/a" }],
        livenessProbe: { httpGet: { port: "http", httpHeaders: [{ name: "X-A", value: "b" }] } },
        readinessProbe: { exec: { command: ["true"] }, periodSeconds: 1 },
        startupProbe: { grpc: { port: 1 }, terminationGracePeriodSeconds: 1 },
        lifecycle: { postStart: { exec: { command: ["true"] } }, preStop: { sleep: { seconds: 1 } } },
        securityContext: { runAsUser: 0, capabilities: { add: ["SYS_TIME"] }, seccompProfile: { type: "Unconfined" } },
      },
    ],
  },
};
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const portRange = "must be between 1 and 65535, inclusive";

test("a container with all sorts of fields is accepted", async () => {
  expect(await refusal(path, pod)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["name", undefined, "name: Required value"],
  ["name", "A", `name: Invalid value: "A": ${label}`],
  ["image", undefined, "image: Required value"],
  ["image", " ", 'image: Invalid value: " ": must not have leading or trailing whitespace'],
  [
    "imagePullPolicy",
    "Sometimes",
    'imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
  ],
  [
    "terminationMessagePolicy",
    "None",
    'terminationMessagePolicy: Unsupported value: "None": supported values: "File", "FallbackToLogsOnError"',
  ],
  ["ports[0].containerPort", undefined, "ports[0].containerPort: Required value"],
  ["ports[0].containerPort", 65_536, `ports[0].containerPort: Invalid value: 65536: ${portRange}`],
  ["ports[0].hostPort", -1, `ports[0].hostPort: Invalid value: -1: ${portRange}`],
  ["ports[0].protocol", "ICMP", 'ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ["ports[0].name", "a--b", 'ports[0].name: Invalid value: "a--b": must not contain consecutive hyphens'],
  [
    "ports",
    [
      { containerPort: 1, name: "a", hostPort: 1 },
      { containerPort: 2, name: "a", hostPort: 1 },
    ],
    'ports[1].name: Duplicate value: "a"',
    'ports[1].hostPort: Duplicate value: "TCP//1"',
  ],
  ["env[0].name", undefined, "env[0].name: Required value"],
  [
    "env[0].name",
    "a=b",
    "env[0].name: Invalid value: \"a=b\": a valid environment variable name must consist only of printable ASCII characters other than '='",
  ],
  [
    "env[0].valueFrom",
    { fieldRef: { fieldPath: "metadata.name" } },
    'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
  ],
  [
    "env[1].valueFrom",
    {},
    'env[1].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
  ],
  [
    "env[1].valueFrom.fieldRef.fieldPath",
    "spec.volumes",
    'env[1].valueFrom.fieldRef.fieldPath: Invalid value: "spec.volumes": error converting fieldPath: field label not supported: spec.volumes',
  ],
  ["env[1].valueFrom.fieldRef.fieldPath", "", "env[1].valueFrom.fieldRef.fieldPath: Required value"],
  [
    "env[2].valueFrom.resourceFieldRef.resource",
    "limits.gpu",
    'env[2].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
  ],
  [
    "env[2].valueFrom.resourceFieldRef.divisor",
    "2",
    'env[2].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
  ],
  ["env[3].valueFrom.secretKeyRef.key", undefined, "env[3].valueFrom.secretKeyRef.key: Required value"],
  [
    "env[3].valueFrom.secretKeyRef.key",
    "..",
    "env[3].valueFrom.secretKeyRef.key: Invalid value: \"..\": must not be '..'",
  ],
  ["envFrom[0].configMapRef.name", undefined, "envFrom[0].configMapRef.name: Required value"],
  [
    "envFrom[0].configMapRef",
    undefined,
    'envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
  ],
  [
    "envFrom[0].secretRef",
    { name: "a" },
    'envFrom: Invalid value: "": may not have more than one field specified at a time',
  ],
  ["volumeMounts[0].name", "x", 'volumeMounts[0].name: Not found: "x"'],
  [
    "volumeMounts[0].name",
    "disk",
    'volumeMounts[0].name: Invalid value: "disk": must not already exist in volumeDevices',
    'volumeDevices[0].name: Invalid value: "disk": must not already exist in volumeMounts',
  ],
  ["volumeMounts[0].mountPath", undefined, "volumeMounts[0].mountPath: Required value"],
  ["volumeMounts[0].subPath", "/b", 'volumeMounts.subPath: Invalid value: "/b": must be a relative path'],
  ["volumeMounts[0].subPath", "../b", "volumeMounts.subPath: Invalid value: \"../b\": must not contain '..'"],
  [
    "volumeMounts[0].subPathExpr",
    "$(A)",
    'volumeMounts[0].subPathExpr: Invalid value: "$(A)": subPathExpr and subPath are mutually exclusive',
  ],
  [
    "volumeMounts[0].mountPropagation",
    "Both",
    'volumeMounts.mountPropagation: Unsupported value: "Both": supported values: "Bidirectional", "HostToContainer", "None"',
  ],
  [
    "volumeMounts",
    [
      { name: "files", mountPath: "/a" },
      { name: "files", mountPath: "/a" },
    ],
    'volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
  ],
  [
    "volumeDevices[0].name",
    "files",
    'volumeMounts[0].name: Invalid value: "files": must not already exist in volumeDevices',
    'volumeDevices[0].name: Invalid value: "files": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    'volumeDevices[0].name: Invalid value: "files": must not already exist in volumeMounts',
  ],
  [
    "resources.limits.cpu",
    "-1",
    'resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'resources.requests: Invalid value: "1m": must be less than or equal to cpu limit of -1',
  ],
  [
    "resources.requests.cpu",
    "2",
    'resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
  ],
  [
    "resources.limits.gpu",
    1,
    'resources.limits[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
    'resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
    'resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
    'resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
  ],
  [
    "resources.claims",
    [{ name: "gpu" }, { name: "gpu" }, { name: "x" }],
    'resources.claims[1]: Duplicate value: "gpu"',
    'resources.claims[2]: Not found: "x": must be one of the names in pod.spec.resourceClaims: gpu',
  ],
  ["livenessProbe", {}, "livenessProbe: Required value: must specify a handler type"],
  [
    "livenessProbe.periodSeconds",
    -1,
    "livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
  ],
  ["livenessProbe.successThreshold", 2, "livenessProbe.successThreshold: Invalid value: 2: must be 1"],
  [
    "livenessProbe.exec",
    { command: ["true"] },
    "livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
  ],
  ["livenessProbe.httpGet.port", 0, `livenessProbe.httpGet.port: Invalid value: 0: ${portRange}`],
  [
    "livenessProbe.httpGet.httpHeaders[0].name",
    "a b",
    "livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
  ],
  ["readinessProbe.exec.command", [], "readinessProbe.exec.command: Required value"],
  [
    "readinessProbe.terminationGracePeriodSeconds",
    1,
    "readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes",
  ],
  [
    "startupProbe.terminationGracePeriodSeconds",
    0,
    "startupProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
  ],
  ["lifecycle.postStart", {}, "lifecycle.postStart: Required value: must specify a handler type"],
  [
    "lifecycle.preStop.sleep.seconds",
    31,
    "lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
  ],
  [
    "restartPolicy",
    "Sometimes",
    'restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
  ],
  [
    "securityContext.runAsUser",
    -1,
    "securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
  ],
  [
    "securityContext",
    { privileged: true, allowPrivilegeEscalation: false },
    'securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
  ],
  [
    "securityContext.seccompProfile.type",
    "Local",
    'securityContext.seccompProfile.type: Unsupported value: "Local": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
  ],
  [
    "securityContext.seccompProfile.localhostProfile",
    "a",
    'securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"Unconfined","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost',
  ],
  [
    "resizePolicy",
    [
      { resourceName: "cpu", restartPolicy: "NotRequired" },
      { resourceName: "disk", restartPolicy: "NotRequired" },
    ],
    'resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"',
  ],
])("a container with %s = %j is refused", async (field, value, ...causes) => {
  const expected = causes.map((cause) => `spec.containers[0].${cause}`);
  expect(await refusal(path, changed(pod, `spec.containers[0].${field}`, value))).toEqual(expected);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["[0].name", "web", '[0].name: Duplicate value: "web"'],
  [
    "[0].livenessProbe",
    { tcpSocket: { port: 1 } },
    "[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
  ],
  [
    "[0].lifecycle",
    { preStop: { sleep: { seconds: 1 } } },
    "[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always",
  ],
  ["[1].readinessProbe", {}, "[1].readinessProbe: Required value: must specify a handler type"],
])("an init container with %s = %j is refused", async (field, value, ...causes) => {
  const expected = causes.map((cause) => `spec.initContainers${cause}`);
  expect(await refusal(path, changed(pod, `spec.initContainers${field}`, value))).toEqual(expected);
});
