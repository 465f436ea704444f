import type { World } from "../../../raft/testing/simulator/world.ts";
import type { KubeObject } from "../../../src/api/object-meta.ts";
import { formatTime } from "../../../src/api/time.ts";
import type { Clock } from "../../../src/process/clock.ts";
import type { Store } from "../../../src/storage/store.ts";
import type { Actor } from "./actor.ts";
import { prefixes } from "./cluster-objects.ts";
import { nodeNames, readyCondition, steadyNode } from "./node-agents.ts";

const systemNamespaces = ["kube-system", "kube-node-lease"];
/** A namespace that is never deleted, and others that are. */
export const steadyNamespace = "a";
const namespaces = [steadyNamespace, "t1", "t2"];
const numbers = [1, 2, 3, 4];
/** Prefix of the names of pods that nobody deletes. */
export const steadfast = "steadfast";

const containers = [{ name: "c", image: "i" }];
const selector = { app: "web" };
const size = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpus" } }] };

/** Users who make and delete all sorts of objects. */
export class Users {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Creates the namespaces that every server creates when it starts. */
  async found(actor: Actor): Promise<void> {
    for (const name of [...systemNamespaces, steadyNamespace]) await this.#namespace(actor, name);
  }

  /** Makes one request, or a few that belong together. */
  async act(actor: Actor, store: Store, clock: Clock): Promise<unknown> {
    const { random } = this.#world;
    const namespace = random.pick(namespaces);
    const number = random.pick(numbers);
    const actions: readonly (() => Promise<unknown>)[] = [
      () => this.#namespace(actor, namespace),
      () => (namespace === steadyNamespace ? Promise.resolve() : actor.delete("namespaces", "", namespace)),
      () => this.#node(actor, clock),
      () => this.#deleteNode(actor),
      () => this.#pod(actor, namespace, `p${number}`),
      () => this.#pod(actor, namespace, `p${number}`),
      () => this.#steadfastPod(actor, store, `${steadfast}-${number}`),
      () => actor.delete("pods", namespace, `p${number}`),
      () => this.#service(actor, namespace),
      () => actor.delete("services", namespace, "web"),
      () => this.#family(actor, namespace, number),
      () => actor.delete("configmaps", namespace, `owner-${number}`, { propagationPolicy: this.#policy() }),
      () => this.#job(actor, clock, namespace, number),
      () => this.#claim(actor, namespace, `claim-${number}`),
      () => actor.delete("persistentvolumeclaims", namespace, `claim-${number}`),
      () => this.#volume(actor, `v${number}`),
      () => actor.delete("persistentvolumes", "", `v${number}`),
      () => this.#budget(actor, namespace),
      () => this.#deviceTemplate(actor, namespace),
    ];
    return random.pick(actions)();
  }

  #policy(): "Background" | "Foreground" | "Orphan" {
    return this.#world.random.pick(["Background", "Foreground", "Orphan"] as const);
  }

  #namespace(actor: Actor, name: string) {
    return actor.create("namespaces", { kind: "Namespace", metadata: { name } });
  }

  #node(actor: Actor, clock: Clock) {
    const name = this.#world.random.pick(nodeNames);
    return actor.create("nodes", { kind: "Node", metadata: { name }, status: { conditions: [readyCondition(clock)] } });
  }

  async #deleteNode(actor: Actor) {
    const name = this.#world.random.pick(nodeNames);
    if (name !== steadyNode) await actor.delete("nodes", "", name);
  }

  /** A pod on a node that is not there yet may be removed. */
  async #steadfastPod(actor: Actor, store: Store, name: string): Promise<void> {
    const hasNode = store.get(`${prefixes.nodes}${steadyNode}`) !== undefined;
    if (hasNode) await this.#pod(actor, steadyNamespace, name);
  }

  async #pod(actor: Actor, namespace: string, name: string): Promise<void> {
    const { random } = this.#world;
    const isSteadfast = name.startsWith(steadfast);
    const nodeName = isSteadfast ? steadyNode : random.pick([...nodeNames, "missing"]);
    const volumes = [
      ...(random.chance(300) ? [{ name: "e", ephemeral: { volumeClaimTemplate: { spec: size } } }] : []),
      ...(random.chance(500)
        ? [{ name: "v", persistentVolumeClaim: { claimName: `claim-${random.pick(numbers)}` } }]
        : []),
    ];
    const resourceClaims = random.chance(300) ? [{ name: "gpu", resourceClaimTemplateName: "gpu" }] : [];
    const untainted = { operator: "Exists", effect: "NoExecute", tolerationSeconds: random.between(0, 4) };
    await actor.create("pods", {
      kind: "Pod",
      metadata: { name, namespace, labels: selector },
      spec: {
        containers,
        nodeName,
        volumes,
        resourceClaims,
        terminationGracePeriodSeconds: random.pick([0, 1]),
        tolerations: isSteadfast ? [{ operator: "Exists" }] : [untainted],
      },
    });
  }

  #service(actor: Actor, namespace: string) {
    const families = { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
    const ports = [{ port: 80, targetPort: 80, protocol: "TCP" }];
    const spec = { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], ...families, ports, selector };
    return actor.create("services", { kind: "Service", metadata: { name: "web", namespace }, spec });
  }

  /** Creates an owner and its dependents. */
  async #family(actor: Actor, namespace: string, number: number): Promise<void> {
    const owner = await actor.create("configmaps", {
      kind: "ConfigMap",
      metadata: { name: `owner-${number}`, namespace },
    });
    if (owner === undefined) return;
    const ownerReferences = [referenceTo("ConfigMap", "v1", owner)];
    for (const part of ["x", "y"]) {
      const metadata = { name: `owned-${number}-${part}`, namespace, ownerReferences };
      await actor.create("secrets", { kind: "Secret", metadata });
    }
  }

  async #job(actor: Actor, clock: Clock, namespace: string, number: number): Promise<void> {
    const name = `job-${number}`;
    const spec = {
      template: { spec: { containers, restartPolicy: "Never" } },
      ttlSecondsAfterFinished: this.#world.random.between(0, 5),
    };
    const metadata = { name, namespace };
    const job = await actor.create("jobs.batch", { kind: "Job", apiVersion: "batch/v1", metadata, spec });
    if (job === undefined) return;
    const ownerReferences = [referenceTo("Job", "batch/v1", job)];
    const pod = { name: `${name}-pod`, namespace, ownerReferences };
    await actor.create("pods", { kind: "Pod", metadata: pod, spec: { containers, nodeName: steadyNode } });
    const now = formatTime(clock.nowMs());
    const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({
      type,
      status: "True",
      lastTransitionTime: now,
    }));
    const end = { startTime: job.metadata.creationTimestamp, completionTime: now, succeeded: 1, conditions };
    await actor.update("jobs.batch", namespace, name, (old) => ({ ...old, status: end }), "status");
  }

  #claim(actor: Actor, namespace: string, name: string) {
    const claim = { kind: "PersistentVolumeClaim", metadata: { name, namespace }, spec: size };
    return actor.create("persistentvolumeclaims", claim);
  }

  #volume(actor: Actor, name: string) {
    const spec = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/d" } };
    return actor.create("persistentvolumes", { kind: "PersistentVolume", metadata: { name }, spec });
  }

  #budget(actor: Actor, namespace: string) {
    const spec = { minAvailable: 1, selector: { matchLabels: selector } };
    const metadata = { name: "budget", namespace };
    return actor.create("poddisruptionbudgets.policy", {
      kind: "PodDisruptionBudget",
      apiVersion: "policy/v1",
      metadata,
      spec,
    });
  }

  #deviceTemplate(actor: Actor, namespace: string) {
    return actor.create("resourceclaimtemplates.resource.k8s.io", {
      kind: "ResourceClaimTemplate",
      apiVersion: "resource.k8s.io/v1",
      metadata: { name: "gpu", namespace },
      spec: { spec: { devices } },
    });
  }
}

function referenceTo(kind: string, apiVersion: string, { metadata: { name = "", uid = "" } }: KubeObject): object {
  return { apiVersion, kind, name, uid, blockOwnerDeletion: true };
}
