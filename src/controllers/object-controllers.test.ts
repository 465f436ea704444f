import { describe, expect, test } from "bun:test";
import type { Entry } from "../api/entry.ts";
import type { KubeObject, OwnerReference } from "../api/object-meta.ts";
import { formatMicroTime, formatTime } from "../api/time.ts";
import { parseCidr } from "../api/validation/ip.ts";
import type { StoreEvent } from "../storage/store.ts";
import { type Course, CrashTest, startEveryController, type Term } from "./leader-crash/testing.ts";
import type { NodeCidrRange } from "./nodes/cidr-set.ts";
import { nodeLifecycleDefaults } from "./nodes/node-lifecycle-settings.ts";
import { testContext } from "./testing.ts";

const cidr = parseCidr("10.0.0.0/22") as NodeCidrRange["cidr"];
const settings = {
  nodeCidrRanges: [{ cidr, nodePrefixBits: 24 }],
  nodeLifecycle: { ...nodeLifecycleDefaults, monitorPeriodMs: 1_000, monitorGraceMs: 2_000 },
  terminatedPodsMax: 1,
};
const containers = [{ name: "c", image: "i" }];

interface Scenario extends Course {
  readonly name: string;
  /** Makes the objects that give the controllers work. */
  readonly prepare: (test: CrashTest) => Promise<unknown>;
  /** Simulates the rest of the cluster. */
  readonly meanwhile?: (test: CrashTest) => Promise<void>;
  /** Facts about the end that every course must share. */
  readonly expected: readonly string[];
}

function pod(test: CrashTest, name: string, more: { metadata?: object; spec?: object; status?: object } = {}) {
  const metadata = { name, namespace: "n", ...more.metadata };
  const made = test.create("pods", { kind: "Pod", metadata, spec: { containers, ...more.spec } });
  const status = (old: any) => ({ ...old, status: { ...old.status, ...more.status } });
  return made.then(async (created) => {
    await test.update("pods", name, status, "status", created.metadata.namespace);
    return created;
  });
}

const ownerOf = (kind: string, apiVersion: string, { metadata }: KubeObject): OwnerReference => ({
  kind,
  apiVersion,
  name: metadata.name ?? "",
  uid: metadata.uid ?? "",
});

async function node(test: CrashTest, name: string): Promise<void> {
  const now = formatTime(test.clock.nowMs());
  const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: now, lastTransitionTime: now }];
  await test.create("nodes", { kind: "Node", metadata: { name }, status: { conditions } });
}

async function renewLease(test: CrashTest, name: string): Promise<void> {
  const spec = { holderIdentity: name, renewTime: formatMicroTime(test.clock.nowMs()) };
  const metadata = { name, namespace: "kube-node-lease" };
  const made = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec };
  const write = (old: KubeObject | undefined) => ({ ...(old ?? made), spec }) as unknown as KubeObject;
  const leases = test.registry("leases.coordination.k8s.io");
  await leases.upsert("kube-node-lease", name, write, testContext, { reapplies: true });
}

const scenarios: readonly Scenario[] = [
  {
    name: "a silent node loses its pods, and the others keep theirs",
    seconds: 8,
    async prepare(test) {
      await test.create("namespaces", { kind: "Namespace", metadata: { name: "kube-node-lease" } });
      for (const name of ["silent", "fine"]) await node(test, name);
      const status = { conditions: [{ type: "Ready", status: "True" }] };
      const forever = { operator: "Exists", effect: "NoExecute" };
      const briefly = { ...forever, key: "node.kubernetes.io/unreachable", tolerationSeconds: 1 };
      const place = (nodeName: string, toleration: object) => ({
        spec: { nodeName, terminationGracePeriodSeconds: 0, tolerations: [toleration] },
        status,
      });
      for (const name of ["silent", "fine"]) await pod(test, `on-${name}`, place(name, briefly));
      await pod(test, "tolerant", place("silent", forever));
    },
    meanwhile: (test) => renewLease(test, "fine"),
    expected: [
      "nodes/silent DELETED never",
      "pods/n/on-silent DELETED once",
      "pods/n/on-fine DELETED never",
      "pods/n/tolerant DELETED never",
    ],
  },
  {
    name: "pods on a missing node go",
    seconds: 85,
    async prepare(test) {
      for (const name of ["first", "second"]) await pod(test, name, { spec: { nodeName: "missing" } });
      await pod(test, "waiting");
    },
    expected: ["pods/n/first DELETED once", "pods/n/second DELETED once", "pods/n/waiting DELETED never"],
  },
  {
    name: "of the pods that have ended, as many stay as may",
    seconds: 25,
    async prepare(test) {
      for (const name of ["first", "second", "third"])
        await pod(test, `ended-${name}`, { status: { phase: "Failed" } });
    },
    expected: [
      "pods/n/ended-first DELETED once",
      "pods/n/ended-second DELETED once",
      "pods/n/ended-third DELETED never",
    ],
  },
  {
    name: "every node gets a part of the range of its own",
    async prepare(test) {
      for (const name of ["a", "b", "c"]) await node(test, name);
    },
    expected: ["nodes/a DELETED never"],
  },
  {
    name: "a namespace goes with its contents",
    seconds: 4,
    async prepare(test) {
      const { metadata } = await test.create("configmaps", {
        kind: "ConfigMap",
        metadata: { name: "c", namespace: "n" },
      });
      const owner = ownerOf("ConfigMap", "v1", { metadata } as KubeObject);
      const dependent = { name: "s", namespace: "n", ownerReferences: [owner] };
      await test.create("secrets", { kind: "Secret", metadata: dependent });
      await pod(test, "p");
      await test.create("services", { kind: "Service", metadata: { name: "web", namespace: "n" }, spec: headless });
      await test.delete("namespaces", "n");
    },
    expected: [
      "namespaces/n DELETED once",
      "configmaps/n/c DELETED once",
      "secrets/n/s DELETED once",
      "pods/n/p DELETED once",
    ],
  },
  {
    name: "the addresses of a service are those of its pods",
    async prepare(test) {
      await test.create("services", { kind: "Service", metadata: { name: "web", namespace: "n" }, spec: headless });
      for (const at of [1, 2, 3]) {
        const podIP = `10.1.0.${at}`;
        const conditions = [{ type: "Ready", status: at < 3 ? "True" : "False" }];
        await pod(test, `p${at}`, {
          metadata: { labels: headless.selector },
          status: { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions },
        });
      }
      const { selector: _, ...bare } = headless;
      await test.create("services", { kind: "Service", metadata: { name: "outside", namespace: "n" }, spec: bare });
      const subsets = [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }];
      await test.create("endpoints", { kind: "Endpoints", metadata: { name: "outside", namespace: "n" }, subsets });
    },
    expected: [
      "services/endpoints/n/web ADDED once",
      "endpointslices/n/web-* ADDED once",
      "endpointslices/n/outside-* ADDED once",
    ],
  },
  {
    name: "a pod gets its claims, each once",
    async prepare(test) {
      const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpus" } }] };
      await test.create("resourceclaimtemplates.resource.k8s.io", {
        kind: "ResourceClaimTemplate",
        apiVersion: "resource.k8s.io/v1",
        metadata: { name: "gpu", namespace: "n" },
        spec: { spec: { devices } },
      });
      const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
      const volumes = ["a", "b"].map((name) => ({ name, ephemeral: { volumeClaimTemplate: { spec: claim } } }));
      const resourceClaims = [{ name: "gpu", resourceClaimTemplateName: "gpu" }];
      await pod(test, "p", { spec: { volumes, resourceClaims } });
    },
    expected: [
      "persistentvolumeclaims/n/p-a ADDED once",
      "persistentvolumeclaims/n/p-b ADDED once",
      "resourceclaims/n/p-gpu-* ADDED once",
    ],
  },
  {
    name: "a finished Job goes with its pods",
    seconds: 6,
    async prepare(test) {
      const template = { spec: { containers, restartPolicy: "Never" } };
      const job = { kind: "Job", apiVersion: "batch/v1", metadata: { name: "j", namespace: "n" } };
      const created = await test.create("jobs.batch", { ...job, spec: { template, ttlSecondsAfterFinished: 4 } });
      const owner = { ...ownerOf("Job", "batch/v1", created), controller: true, blockOwnerDeletion: true };
      for (const name of ["j-1", "j-2"]) await pod(test, name, { metadata: { ownerReferences: [owner] } });
      const now = formatTime(test.clock.nowMs());
      const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({
        type,
        status: "True",
        lastTransitionTime: now,
      }));
      const end = { startTime: now, completionTime: now, succeeded: 1, conditions };
      await test.update("jobs.batch", "j", (old) => ({ ...old, status: end }), "status");
    },
    expected: ["jobs/n/j DELETED once", "pods/n/j-1 DELETED once", "pods/n/j-2 DELETED once"],
  },
  {
    name: "volumes and claims that are not used are released, and a used one is kept",
    seconds: 2,
    async prepare(test) {
      const size = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
      for (const name of ["free", "used"]) {
        const metadata = { name, namespace: "n" };
        await test.create("persistentvolumeclaims", { kind: "PersistentVolumeClaim", metadata, spec: size });
      }
      const volume = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/d" } };
      await test.create("persistentvolumes", { kind: "PersistentVolume", metadata: { name: "v" }, spec: volume });
      const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "used" } }];
      await node(test, "a");
      await pod(test, "user", { spec: { nodeName: "a", volumes } });
      for (const name of ["free", "used"]) await test.delete("persistentvolumeclaims", name, {}, "n");
      await test.delete("persistentvolumes", "v");
    },
    expected: [
      "persistentvolumeclaims/n/free DELETED once",
      "persistentvolumeclaims/n/used DELETED never",
      "persistentvolumes/v DELETED once",
    ],
  },
  {
    name: "a budget counts its pods, and a quota its objects",
    async prepare(test) {
      const metadata = { name: "b", namespace: "n" };
      const spec = { minAvailable: 1, selector: { matchLabels: headless.selector } };
      const budget = { kind: "PodDisruptionBudget", apiVersion: "policy/v1", metadata, spec };
      await test.create("poddisruptionbudgets.policy", budget);
      await test.create("resourcequotas", { kind: "ResourceQuota", metadata, spec: { hard: { pods: "9" } } });
      const conditions = [{ type: "Ready", status: "True" }];
      for (const name of ["p1", "p2"]) {
        await pod(test, name, { metadata: { labels: headless.selector }, status: { phase: "Running", conditions } });
      }
    },
    expected: ["poddisruptionbudgets/n/b DELETED never"],
  },
];

const headless = {
  type: "ClusterIP",
  clusterIP: "None",
  clusterIPs: ["None"],
  ipFamilies: ["IPv4"],
  ipFamilyPolicy: "SingleStack",
  selector: { app: "web" },
  ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
};

interface Outcome {
  /** The objects at the end. */
  readonly objects: readonly string[];
  /** How often each object was created and deleted. */
  readonly counts: ReadonlyMap<string, number>;
  readonly writes: number;
}

async function outcomeOf(scenario: Scenario, terms: readonly Term[]): Promise<Outcome> {
  await using current = await CrashTest.openFor((parts) => startEveryController(parts, settings));
  const counts = new Map<string, number>();
  await scenario.prepare(current);
  using _ = current.store.subscribe((events) => {
    for (const event of events) count(counts, event);
  });
  const { meanwhile } = scenario;
  await current.run(terms, { ...scenario, everySecond: meanwhile && (() => meanwhile(current)) });
  expect(current.errors).toEqual([]);
  return { objects: objectsOf(current), counts, writes: current.writes };
}

function count(counts: Map<string, number>, { type, entry }: StoreEvent): void {
  if (type === "MODIFIED" || isFleeting(entry)) return;
  const what = `${nameOf(entry)} ${type}`;
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Events are best effort, and the Leases of nodes are not the controllers'. */
function isFleeting({ key }: Entry): boolean {
  return key.startsWith("/registry/events/") || key.startsWith("/registry/leases/");
}

/** Returns the key without the random end of a generated name. */
function nameOf({ key, body }: Entry): string {
  const path = key.slice(key.indexOf("/", 1) + 1).replace(/^([^/]*\.)?[^/]*\.k8s\.io\//, "");
  const { generateName } = (JSON.parse(Buffer.from(body).toString()) as KubeObject).metadata;
  return generateName === undefined ? path : `${path.slice(0, path.lastIndexOf("/") + 1)}${generateName}*`;
}

/** Fields that differ between two courses that do the same. */
const incidental = new Set(["uid", "resourceVersion", "managedFields", "creationTimestamp", "timeAdded"]);

function objectsOf(current: CrashTest): string[] {
  const entries = current.store.scan("/registry/").filter((entry) => !isFleeting(entry));
  const generated = new Map<string, string>();
  const objects = entries.map((entry) => {
    const [resource = ""] = entry.key.slice("/registry/".length).split("/");
    const object = JSON.parse(Buffer.from(entry.body).toString()) as KubeObject;
    const { name = "", generateName } = object.metadata;
    if (generateName !== undefined) generated.set(name, `${generateName}*`);
    return [resource, object] as const;
  });
  const keep = (key: string, value: unknown) => {
    if (incidental.has(key) || /Time$|[Tt]imestamp$|-trigger-time$|podCIDRs?$/.test(key)) return undefined;
    // Two taints come in the order in which their reasons were noticed.
    if (key === "taints") return (value as { effect: string }[]).toSorted((a, b) => (a.effect < b.effect ? -1 : 1));
    return generated.get(value as string) ?? value;
  };
  return objects.map(([resource, object]) => `${resource} ${JSON.stringify(object, keep)}`).toSorted();
}

describe.each(scenarios.map((scenario) => [scenario.name, scenario] as const))("%s", (_, scenario) => {
  test("whenever the leader crashes, and nothing is done twice", async () => {
    const undisturbed = await outcomeOf(scenario, []);
    const told = ["once", "never"].flatMap((times) =>
      scenario.expected.filter((fact) => fact.endsWith(` ${times}`)).map((fact) => [fact, times] as const),
    );
    for (const [fact, times] of told) {
      const seen = undisturbed.counts.get(fact.slice(0, -times.length - 1)) ?? 0;
      expect([fact, seen]).toEqual([fact, times === "once" ? 1 : 0]);
    }
    for (let writes = 0; writes < undisturbed.writes; writes++) {
      for (const lastIsApplied of [false, true]) {
        const { objects, counts } = await outcomeOf(scenario, [{ writes, lastIsApplied }]);
        expect({ writes, lastIsApplied, objects }).toEqual({ writes, lastIsApplied, objects: undisturbed.objects });
        expect({ writes, lastIsApplied, counts }).toEqual({ writes, lastIsApplied, counts: undisturbed.counts });
      }
    }
  }, 60_000);
});
