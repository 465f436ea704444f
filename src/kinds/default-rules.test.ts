import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { decodeTyped } from "../api/schema/decode.ts";
import { applyDefaults } from "../api/schema/defaults.ts";
import { pullPolicyOf } from "./core/pod-defaults.ts";
import { Scheme } from "./scheme.ts";

const scheme = Scheme.builtIn();

/** As the registry does it: decode, default, and decode again for the order. */
function defaulted(type: string, value: JsonObject): JsonObject {
  const schema = scheme.typeSchema(type);
  const { object } = decodeTyped(schema, value, { kind: type });
  applyDefaults(schema, object);
  return decodeTyped(schema, object, { kind: type }).object;
}
const podSpec = (spec: JsonObject) => defaulted("core/v1.Pod", { spec })["spec"] as JsonObject;
const firstContainer = (container: JsonObject, rest: JsonObject = {}) =>
  (podSpec({ containers: [container], ...rest })["containers"] as JsonObject[])[0] as JsonObject;

describe("defaults of pods", () => {
  test("are exactly those of the reference implementation", () => {
    expect(
      JSON.stringify(podSpec({ containers: [{ name: "c", image: "nginx", ports: [{ containerPort: 80 }] }] })),
    ).toBe(
      JSON.stringify({
        containers: [
          {
            name: "c",
            image: "nginx",
            ports: [{ containerPort: 80, protocol: "TCP" }],
            resources: {},
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            imagePullPolicy: "Always",
          },
        ],
        restartPolicy: "Always",
        terminationGracePeriodSeconds: 30,
        dnsPolicy: "ClusterFirst",
        securityContext: {},
        schedulerName: "default-scheduler",
        enableServiceLinks: true,
      }),
    );
  });
  test("keep what is given", () => {
    const given = { restartPolicy: "Never", enableServiceLinks: false, terminationGracePeriodSeconds: 0 };
    expect(podSpec({ containers: [], ...given })).toMatchObject(given);
  });
  test("turn a negative grace period into one second", () => {
    expect(podSpec({ terminationGracePeriodSeconds: -5 })["terminationGracePeriodSeconds"]).toBe(1);
  });
  test("show the service account under both names", () => {
    const both = { serviceAccountName: "a", serviceAccount: "a" };
    expect(podSpec({ serviceAccount: "a" })).toMatchObject(both);
    expect(podSpec({ serviceAccountName: "a", serviceAccount: "b" })).toMatchObject(both);
    expect(podSpec({})["serviceAccount"]).toBeUndefined();
  });
  test("request what is limited", () => {
    const resources = { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m" } };
    expect(firstContainer({ name: "c", resources })["resources"]).toEqual({
      limits: { cpu: "1", memory: "1Gi" },
      requests: { cpu: "500m", memory: "1Gi" },
    });
  });
  test("round amounts up to thousandths", () => {
    expect(firstContainer({ name: "c", resources: { requests: { cpu: "1u" } } })["resources"]).toEqual({
      requests: { cpu: "1m" },
    });
  });
  test("take container ports as host ports on the host's network only", () => {
    const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 82 }];
    const hostPorts = (rest: JsonObject) =>
      (firstContainer({ name: "c", ports }, rest)["ports"] as JsonObject[]).map((port) => port["hostPort"] ?? 0);
    expect(hostPorts({ hostNetwork: true })).toEqual([80, 82]);
    expect(hostPorts({})).toEqual([0, 82]);
  });
  test("sum up what a pod with its own limits requests", () => {
    const requests = (cpu: string) => ({ resources: { requests: { cpu } } });
    const spec = podSpec({
      resources: { limits: { cpu: "4", memory: "1Gi" } },
      containers: [
        { name: "a", ...requests("500m") },
        { name: "b", ...requests("1") },
      ],
      initContainers: [
        { name: "s", restartPolicy: "Always", ...requests("250m") },
        { name: "i", ...requests("2") },
      ],
    });
    expect(spec["resources"]).toEqual({
      limits: { cpu: "4", memory: "1Gi" },
      requests: { cpu: "2250m", memory: "1Gi" },
    });
  });
  test("complete probes, wherever they are", () => {
    const probe = { httpGet: { port: 80 } };
    expect(firstContainer({ name: "c", livenessProbe: probe })["livenessProbe"]).toEqual({
      httpGet: { path: "/", port: 80, scheme: "HTTP" },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
    const ephemeral = podSpec({ ephemeralContainers: [{ name: "e", image: "x:1" }] })["ephemeralContainers"];
    expect(ephemeral).toMatchObject([{ imagePullPolicy: "IfNotPresent", terminationMessagePolicy: "File" }]);
  });
  test("complete volumes", () => {
    const volumes = podSpec({
      volumes: [
        { name: "a" },
        { name: "b", secret: { secretName: "s" } },
        { name: "c", hostPath: { path: "/" } },
        { name: "d", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
        { name: "e", ephemeral: { volumeClaimTemplate: { spec: {} } } },
        { name: "f", image: { reference: "r:1" } },
      ],
    })["volumes"];
    expect(volumes).toMatchObject([
      { name: "a", emptyDir: {} },
      { secret: { defaultMode: 420 } },
      { hostPath: { type: "" } },
      { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] } },
      { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: "Filesystem" } } } },
      { image: { pullPolicy: "IfNotPresent" } },
    ]);
  });
});

describe("defaults of other kinds", () => {
  test("give a Secret its type", () => expect(defaulted("core/v1.Secret", {})["type"]).toBe("Opaque"));
  test("give a Namespace its phase", () => {
    expect(defaulted("core/v1.Namespace", {})["status"]).toEqual({ phase: "Active" });
    expect(defaulted("core/v1.Namespace", { status: { phase: "Terminating" } })["status"]).toEqual({
      phase: "Terminating",
    });
  });
  test("let a Node give out its capacity", () => {
    expect(defaulted("core/v1.Node", { status: { capacity: { cpu: "4" } } })["status"]).toMatchObject({
      allocatable: { cpu: "4" },
    });
  });
  test("leave Leases and ConfigMaps alone", () => {
    expect(defaulted("coordination/v1.Lease", {})).toEqual({ metadata: {}, spec: {} });
    expect(defaulted("core/v1.ConfigMap", {})).toEqual({ metadata: {} });
  });
});

describe("defaults of workloads", () => {
  const template = { metadata: { labels: { app: "a" } }, spec: { containers: [] } };
  const specOf = (type: string, spec: JsonObject) => defaulted(type, { spec: { template, ...spec } })["spec"];

  test("keep a Deployment rolling", () => {
    expect(specOf("apps/v1.Deployment", {})).toMatchObject({
      replicas: 1,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      template: { spec: { restartPolicy: "Always" } },
    });
    expect(specOf("apps/v1.Deployment", { replicas: 0, strategy: { type: "Recreate" } })).toMatchObject({
      replicas: 0,
      strategy: { type: "Recreate" },
    });
    const one = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } };
    expect(specOf("apps/v1.Deployment", { strategy: one })).toMatchObject({
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } },
    });
  });
  test("replace one pod of a DaemonSet at a time", () => {
    expect(specOf("apps/v1.DaemonSet", {})).toMatchObject({
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
    });
    const onDelete = { updateStrategy: { type: "OnDelete" } };
    expect(specOf("apps/v1.DaemonSet", onDelete)).toMatchObject(onDelete);
  });
  test("start pods of a StatefulSet in order and keep their claims", () => {
    expect(specOf("apps/v1.StatefulSet", { volumeClaimTemplates: [{ metadata: { name: "a" } }] })).toMatchObject({
      podManagementPolicy: "OrderedReady",
      replicas: 1,
      revisionHistoryLimit: 10,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      volumeClaimTemplates: [{ kind: "PersistentVolumeClaim", spec: { volumeMode: "Filesystem" } }],
    });
  });
  test("let a ReplicationController select the pods of its template", () => {
    expect(defaulted("core/v1.ReplicationController", { spec: { template } })).toMatchObject({
      metadata: { labels: { app: "a" } },
      spec: { replicas: 1, selector: { app: "a" } },
    });
    expect(specOf("core/v1.ReplicationController", { selector: { b: "c" } })).toMatchObject({ selector: { b: "c" } });
  });
  test("run a Job once", () => {
    expect(specOf("batch/v1.Job", {})).toMatchObject({
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: "NonIndexed",
      suspend: false,
      podReplacementPolicy: "TerminatingOrFailed",
    });
    expect(specOf("batch/v1.Job", { parallelism: 3 })).not.toHaveProperty("completions");
    expect(specOf("batch/v1.Job", { podFailurePolicy: { rules: [] }, backoffLimitPerIndex: 1 })).toMatchObject({
      podReplacementPolicy: "Failed",
      backoffLimit: 2_147_483_647,
    });
  });
  test("keep some jobs of a CronJob, and leave the jobs themselves alone", () => {
    const spec = defaulted("batch/v1.CronJob", { spec: { jobTemplate: { spec: { template } } } })["spec"];
    expect(spec).toMatchObject({
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    expect((spec as any).jobTemplate.spec).not.toHaveProperty("parallelism");
  });
  test("scale by the processor, and steadily", () => {
    const spec = (fields: JsonObject) => defaulted("autoscaling/v2.HorizontalPodAutoscaler", { spec: fields })["spec"];
    expect(spec({})).toMatchObject({ minReplicas: 1, metrics: [{ type: "Resource", resource: { name: "cpu" } }] });
    expect(spec({})).not.toHaveProperty("behavior");
    expect(spec({ behavior: { scaleUp: { selectPolicy: "Min" } } })).toMatchObject({
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 0,
          selectPolicy: "Min",
          policies: [{ type: "Pods" }, { type: "Percent" }],
        },
        scaleDown: { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] },
      },
    });
  });
});

describe("pull policy", () => {
  const cases: readonly [image: string, policy: string][] = [
    ["nginx", "Always"],
    ["nginx:latest", "Always"],
    ["nginx:1.2", "IfNotPresent"],
    ["registry.example:5000/nginx", "Always"],
    ["registry.example:5000/nginx:1", "IfNotPresent"],
    ["nginx@sha256:abc", "IfNotPresent"],
    [`nginx:latest@sha256:${"a".repeat(64)}`, "Always"],
    ["nginx:latest@sha256:abc", "IfNotPresent"],
    ["", "IfNotPresent"],
  ];
  for (const [image, policy] of cases) {
    test(`of ${JSON.stringify(image)} is ${policy}`, () => {
      expect(pullPolicyOf(image)).toBe(policy as "Always");
    });
  }
});

describe("defaults of networks", () => {
  const service = (spec: JsonObject) => defaulted("core/v1.Service", { spec })["spec"];

  test("serve a Service inside of the cluster", () => {
    expect(service({ ports: [{ port: 80 }, { port: 81, targetPort: "http", protocol: "UDP" }] })).toEqual({
      ports: [
        { port: 80, protocol: "TCP", targetPort: 80 },
        { port: 81, protocol: "UDP", targetPort: "http" },
      ],
      sessionAffinity: "None",
      type: "ClusterIP",
      internalTrafficPolicy: "Cluster",
    });
  });
  test("forward external traffic to any node", () => {
    const everywhere = { externalTrafficPolicy: "Cluster", internalTrafficPolicy: "Cluster" };
    expect(service({ type: "NodePort" })).toMatchObject(everywhere);
    expect(service({ type: "LoadBalancer" })).toMatchObject({ ...everywhere, allocateLoadBalancerNodePorts: true });
    expect(service({ externalIPs: ["192.0.2.1"] })).toMatchObject(everywhere);
    expect(service({ type: "ExternalName" })).toEqual({ sessionAffinity: "None", type: "ExternalName" });
  });
  test("keep a client on its pod for three hours where that is wanted", () => {
    expect(service({ sessionAffinity: "ClientIP" })).toMatchObject({
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    });
    const config = { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } };
    expect(service({ sessionAffinity: "ClientIP", ...config })).toMatchObject(config);
    expect(service(config)).not.toHaveProperty("sessionAffinityConfig");
  });
  test("restrict by a NetworkPolicy what it speaks of", () => {
    const types = (spec: JsonObject) => defaulted("networking/v1.NetworkPolicy", { spec })["spec"];
    expect(types({})).toMatchObject({ policyTypes: ["Ingress"] });
    expect(types({ egress: [{}] })).toMatchObject({ policyTypes: ["Ingress", "Egress"] });
    expect(types({ egress: [{}], policyTypes: ["Egress"] })).toMatchObject({ policyTypes: ["Egress"] });
    const [rule] = (types({ ingress: [{ ports: [{ port: 80 }] }] }) as { ingress: JsonObject[] }).ingress;
    expect(rule).toEqual({ ports: [{ protocol: "TCP", port: 80 }] });
  });
  test("take parameters of an IngressClass from the cluster", () => {
    const spec = { controller: "example.com/x", parameters: { kind: "K", name: "n" } };
    expect(defaulted("networking/v1.IngressClass", { spec })["spec"]).toMatchObject({
      parameters: { scope: "Cluster" },
    });
  });
  test("let endpoints speak TCP", () => {
    const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }];
    expect(defaulted("core/v1.Endpoints", { subsets })).toMatchObject({ subsets: [{ ports: [{ protocol: "TCP" }] }] });
    const slice = { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports: [{ port: 80 }] };
    expect(defaulted("discovery/v1.EndpointSlice", slice)).toMatchObject({ ports: [{ name: "", protocol: "TCP" }] });
  });
});

describe("defaults of storage", () => {
  test("keep a volume and give out file systems", () => {
    const spec = { capacity: { storage: "1.0005" } };
    expect(defaulted("core/v1.PersistentVolume", { spec })).toMatchObject({
      spec: { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", capacity: { storage: "1001m" } },
      status: { phase: "Pending" },
    });
    expect(defaulted("core/v1.PersistentVolumeClaim", { spec: {} })).toMatchObject({
      spec: { volumeMode: "Filesystem" },
      status: { phase: "Pending" },
    });
  });
  test("find volumes where their systems usually have them", () => {
    const source = (spec: JsonObject) => defaulted("core/v1.PersistentVolume", { spec })["spec"];
    expect(source({ iscsi: {} })).toMatchObject({ iscsi: { iscsiInterface: "default" } });
    expect(source({ rbd: {} })).toMatchObject({ rbd: { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" } });
    expect(source({ scaleIO: {} })).toMatchObject({ scaleIO: { storageMode: "ThinProvisioned", fsType: "xfs" } });
    expect(source({ hostPath: { path: "/x" } })).toMatchObject({ hostPath: { type: "" } });
  });
  test("delete what a class has made, at once bound", () => {
    expect(defaulted("storage/v1.StorageClass", { provisioner: "p" })).toMatchObject({
      reclaimPolicy: "Delete",
      volumeBindingMode: "Immediate",
    });
  });
  test("attach what a driver serves", () => {
    expect(defaulted("storage/v1.CSIDriver", { spec: {} })["spec"]).toMatchObject({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      requiresRepublish: false,
    });
  });
});

describe("defaults of access and extension", () => {
  test("take a role and its subjects from their group", () => {
    const binding = {
      roleRef: { kind: "Role", name: "r" },
      subjects: [
        { kind: "User", name: "u" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", name: "s" },
      ],
    };
    const group = "rbac.authorization.k8s.io";
    for (const type of ["rbac/v1.RoleBinding", "rbac/v1.ClusterRoleBinding"]) {
      const { roleRef, subjects } = defaulted(type, binding);
      expect(roleRef).toEqual({ apiGroup: group, kind: "Role", name: "r" });
      expect((subjects as JsonObject[]).map(({ apiGroup }) => apiGroup)).toEqual([group, group, undefined]);
    }
  });
  test("name a definition by its kind, and record what it is stored as", () => {
    const spec = {
      group: "example.com",
      names: { plural: "widgets", kind: "WidgetSet" },
      versions: [{ name: "v1" }, { name: "v2", storage: true }],
    };
    expect(defaulted("apiextensions/v1.CustomResourceDefinition", { spec })).toMatchObject({
      spec: { names: { singular: "widgetset", listKind: "WidgetSetList" }, conversion: { strategy: "None" } },
      status: { storedVersions: ["v2"] },
    });
  });
  test("call a webhook for ten seconds and obey it", () => {
    const webhooks = [{ name: "a.b.c", rules: [{ operations: ["CREATE"] }], clientConfig: { service: { name: "s" } } }];
    expect(defaulted("admissionregistration/v1.ValidatingWebhookConfiguration", { webhooks })).toMatchObject({
      webhooks: [
        {
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          namespaceSelector: {},
          objectSelector: {},
          timeoutSeconds: 10,
          rules: [{ scope: "*" }],
          clientConfig: { service: { port: 443 } },
        },
      ],
    });
    const mutating = defaulted("admissionregistration/v1.MutatingWebhookConfiguration", { webhooks });
    expect(mutating).toMatchObject({ webhooks: [{ reinvocationPolicy: "Never" }] });
  });
  test("queue the requests of a level", () => {
    const spec = { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: {} } } };
    expect(defaulted("flowcontrol/v1.PriorityLevelConfiguration", { spec })["spec"]).toMatchObject({
      limited: {
        nominalConcurrencyShares: 30,
        lendablePercent: 0,
        limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
      },
    });
    expect(defaulted("flowcontrol/v1.FlowSchema", { spec: {} })["spec"]).toMatchObject({ matchingPrecedence: 1000 });
  });
  test("ask for one device", () => {
    const devices = {
      requests: [
        { name: "a", exactly: { deviceClassName: "c" } },
        { name: "b", firstAvailable: [{}] },
      ],
    };
    expect(defaulted("resource/v1.ResourceClaim", { spec: { devices } })["spec"]).toMatchObject({
      devices: {
        requests: [
          { exactly: { allocationMode: "ExactCount", count: 1 } },
          { firstAvailable: [{ allocationMode: "ExactCount", count: 1 }] },
        ],
      },
    });
    const all = { requests: [{ name: "a", exactly: { allocationMode: "All" } }] };
    const [request] = (defaulted("resource/v1.ResourceClaim", { spec: { devices: all } }) as any).spec.devices.requests;
    expect(request.exactly).not.toHaveProperty("count");
  });
  test("show the first of a node's ranges to clients that know of one only", () => {
    const ranges = (spec: JsonObject) => defaulted("core/v1.Node", { spec })["spec"];
    const both = { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] };
    expect(ranges({ podCIDR: "10.0.0.0/24" })).toEqual(both);
    expect(ranges({ podCIDRs: ["10.0.0.0/24"] })).toEqual(both);
    expect(ranges({ podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.1.0/24", "fd00::/64"] })).toEqual(both);
    expect(ranges({})).toEqual({});
  });
});
