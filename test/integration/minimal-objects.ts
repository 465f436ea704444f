import "reflect-metadata/lite";
import { BasicConstraintsExtension, Pkcs10CertificateRequestGenerator, X509CertificateGenerator } from "@peculiar/x509";

const selector = { matchLabels: { app: "a" } };
const podSpec = { containers: [{ name: "main", image: "example.com/main:1" }] };
const template = { metadata: { labels: { app: "a" } }, spec: podSpec };
const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
const webhook = {
  name: "hook.example.com",
  clientConfig: { url: "https://hook.example.com/" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const matched = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
};
const claimSpec = { devices: { requests: [{ name: "one", exactly: { deviceClassName: "class.example.com" } }] } };
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const wholeResource = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] };

export interface MinimalObject {
  /** The name: `test` unless the kind has other rules. */
  readonly name?: string;
  /** All fields except kind, apiVersion and name, in the stored version. */
  readonly fields?: Record<string, unknown>;
  readonly metadata?: Record<string, unknown>;
}

/** Returns the smallest valid object of every stored kind, by `<group>/<kind>`. `namespace` is the objects' namespace. */
export async function minimalObjects(namespace: string): Promise<Readonly<Record<string, MinimalObject>>> {
  return {
    "/ConfigMap": {},
    "/Endpoints": {},
    "/Event": { fields: { involvedObject: { kind: "Pod", name: "p", namespace } } },
    "/LimitRange": { fields: { spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } } },
    "/Namespace": {},
    "/Node": {},
    "/PersistentVolume": {
      fields: {
        spec: {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
          nfs: { server: "nfs.example.com", path: "/" },
        },
      },
    },
    "/PersistentVolumeClaim": {
      fields: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    },
    "/Pod": { fields: { spec: podSpec } },
    "/PodTemplate": { fields: { template } },
    "/ReplicationController": { fields: { spec: { selector: { app: "a" }, template } } },
    "/ResourceQuota": { fields: { spec: { hard: { "count/widgets.example.com": "10" } } } },
    "/Secret": {},
    "/Service": { fields: { spec: { ports: [{ port: 80 }] } } },
    "/ServiceAccount": {},
    "admissionregistration.k8s.io/MutatingAdmissionPolicy": {
      fields: {
        spec: {
          matchConstraints: matched,
          reinvocationPolicy: "Never",
          mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
        },
      },
    },
    "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": { fields: { spec: { policyName: "policy" } } },
    "admissionregistration.k8s.io/MutatingWebhookConfiguration": { fields: { webhooks: [webhook] } },
    "admissionregistration.k8s.io/ValidatingAdmissionPolicy": {
      fields: { spec: { matchConstraints: matched, validations: [{ expression: "true" }] } },
    },
    "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": {
      fields: { spec: { policyName: "policy", validationActions: ["Deny"] } },
    },
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration": { fields: { webhooks: [webhook] } },
    "apiextensions.k8s.io/CustomResourceDefinition": {
      name: "widgets.example.com",
      fields: {
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      },
    },
    "apiregistration.k8s.io/APIService": {
      name: "v1.example.com",
      fields: {
        spec: {
          group: "example.com",
          version: "v1",
          groupPriorityMinimum: 100,
          versionPriority: 10,
          service: { namespace: "default", name: "api" },
          insecureSkipTLSVerify: true,
        },
      },
    },
    "apps/ControllerRevision": { fields: { revision: 1, data: { spec: {} } } },
    "apps/DaemonSet": { fields: { spec: { selector, template } } },
    "apps/Deployment": { fields: { spec: { selector, template } } },
    "apps/ReplicaSet": { fields: { spec: { selector, template } } },
    "apps/StatefulSet": { fields: { spec: { selector, template, serviceName: "web" } } },
    "autoscaling/HorizontalPodAutoscaler": { fields: { spec: { scaleTargetRef, maxReplicas: 3 } } },
    "batch/CronJob": {
      fields: {
        spec: {
          schedule: "*/5 * * * *",
          jobTemplate: { spec: { template: { spec: { ...podSpec, restartPolicy: "Never" } } } },
        },
      },
    },
    "batch/Job": { fields: { spec: { template: { spec: { ...podSpec, restartPolicy: "Never" } } } } },
    "certificates.k8s.io/CertificateSigningRequest": {
      fields: {
        spec: { request: await certificateRequest("pem"), signerName: "example.com/signer", usages: ["client auth"] },
      },
    },
    "certificates.k8s.io/ClusterTrustBundle": { fields: { spec: { trustBundle: await authorityCertificate() } } },
    "certificates.k8s.io/PodCertificateRequest": {
      fields: {
        spec: {
          signerName: "example.com/signer",
          podName: "p",
          podUID: "11111111-1111-1111-1111-111111111111",
          serviceAccountName: "default",
          serviceAccountUID: "22222222-2222-2222-2222-222222222222",
          nodeName: "n",
          nodeUID: "33333333-3333-3333-3333-333333333333",
          maxExpirationSeconds: 86_400,
          stubPKCS10Request: await certificateRequest("der"),
        },
      },
    },
    "coordination.k8s.io/Lease": {},
    "coordination.k8s.io/LeaseCandidate": {
      fields: {
        spec: {
          leaseName: "lease",
          binaryVersion: "1.36.0",
          emulationVersion: "1.36.0",
          strategy: "OldestEmulationVersion",
        },
      },
    },
    "discovery.k8s.io/EndpointSlice": { fields: { addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }] } },
    "flowcontrol.apiserver.k8s.io/FlowSchema": {
      fields: {
        spec: {
          priorityLevelConfiguration: { name: "workload-low" },
          matchingPrecedence: 1000,
          rules: [{ subjects: [{ kind: "User", user: { name: "u" } }], resourceRules: [wholeResource] }],
        },
      },
    },
    "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": {
      fields: {
        spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } },
      },
    },
    "internal.apiserver.k8s.io/StorageVersion": { name: "apps.deployments", fields: { spec: {} } },
    "networking.k8s.io/IPAddress": {
      name: "192.0.2.7",
      fields: { spec: { parentRef: { group: "", resource: "services", namespace: "default", name: "s" } } },
    },
    "networking.k8s.io/Ingress": {
      fields: { spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } } },
    },
    "networking.k8s.io/IngressClass": { fields: { spec: { controller: "example.com/ingress" } } },
    "networking.k8s.io/NetworkPolicy": { fields: { spec: { podSelector: {} } } },
    "networking.k8s.io/ServiceCIDR": { fields: { spec: { cidrs: ["198.51.100.0/24"] } } },
    "node.k8s.io/RuntimeClass": { fields: { handler: "runc" } },
    "policy/PodDisruptionBudget": { fields: { spec: { selector, minAvailable: 1 } } },
    "rbac.authorization.k8s.io/ClusterRole": {},
    "rbac.authorization.k8s.io/ClusterRoleBinding": { fields: { roleRef } },
    "rbac.authorization.k8s.io/Role": {},
    "rbac.authorization.k8s.io/RoleBinding": { fields: { roleRef } },
    "resource.k8s.io/DeviceClass": { fields: { spec: {} } },
    "resource.k8s.io/DeviceTaintRule": {
      fields: { spec: { taint: { key: "example.com/broken", effect: "NoSchedule" } } },
    },
    "resource.k8s.io/ResourceClaim": { fields: { spec: claimSpec } },
    "resource.k8s.io/ResourceClaimTemplate": { fields: { spec: { spec: claimSpec } } },
    "resource.k8s.io/ResourcePoolStatusRequest": { fields: { spec: { driver: "driver.example.com" } } },
    "resource.k8s.io/ResourceSlice": {
      fields: {
        spec: {
          driver: "driver.example.com",
          nodeName: "n",
          pool: { name: "pool", generation: 1, resourceSliceCount: 1 },
          devices: [{ name: "one" }],
        },
      },
    },
    "scheduling.k8s.io/PodGroup": { fields: { spec: { schedulingPolicy: { basic: {} } } } },
    "scheduling.k8s.io/PriorityClass": { fields: { value: 1000 } },
    "scheduling.k8s.io/Workload": {
      fields: { spec: { podGroupTemplates: [{ name: "main", schedulingPolicy: { basic: {} } }] } },
    },
    "storage.k8s.io/CSIDriver": { fields: { spec: {} } },
    "storage.k8s.io/CSINode": { fields: { spec: { drivers: [{ name: "csi.example.com", nodeID: "n" }] } } },
    "storage.k8s.io/CSIStorageCapacity": { fields: { storageClassName: "standard" } },
    "storage.k8s.io/StorageClass": { fields: { provisioner: "example.com/provisioner" } },
    "storage.k8s.io/VolumeAttachment": {
      fields: { spec: { attacher: "csi.example.com", nodeName: "n", source: { persistentVolumeName: "pv" } } },
    },
    "storage.k8s.io/VolumeAttributesClass": {
      fields: { driverName: "csi.example.com", parameters: { iops: "1000" } },
    },
    "storagemigration.k8s.io/StorageVersionMigration": {
      fields: { spec: { resource: { group: "apps", resource: "deployments" } } },
    },
  };
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** Base64 of a signed request. */
async function certificateRequest(form: "pem" | "der"): Promise<string> {
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const name = form === "pem" ? "CN=client" : "";
  const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: algorithm });
  return Buffer.from(form === "pem" ? request.toString("pem") : new Uint8Array(request.rawData)).toString("base64");
}

async function authorityCertificate(): Promise<string> {
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=authority",
    keys,
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return `${certificate.toString("pem")}\n`;
}
