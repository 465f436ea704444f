import { systemUser } from "../../access/authentication/system-user.ts";
import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatMicroTime, formatTime } from "../../api/time.ts";
import type { Event, Node, NodeCondition, Pod, PodSpec, PodStatus } from "../../api/types/core-v1.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { node as nodeKind } from "../../kinds/core/node.ts";
import { pod as podKind } from "../../kinds/core/pod.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { openRegistries } from "../../server/registries.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { ManualClock, settle } from "../../storage/cacher/testing.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { ClusterNodes } from "./cluster-nodes.ts";
import { PodsOnNodes } from "./pods-on-nodes.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const scheme = Scheme.builtIn();

/** A store with nodes and pods, and a clock that the test controls. */
export class NodeWorld implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly store = new MemoryStore();
  readonly errors: unknown[] = [];
  readonly #cachers = new CacherSet({ store: this.store, clock: this.clock });
  readonly registries: Registries = openRegistries({
    catalog: builtInCatalog(scheme),
    store: this.store,
    cachers: this.#cachers,
    clock: this.clock,
    randomInt: () => 0,
    admissionPlugins: [],
  }).registries;

  static async open(): Promise<NodeWorld> {
    const world = new NodeWorld();
    for (const name of ["default", "kube-node-lease"]) {
      const namespace = { kind: "Namespace", apiVersion: "v1", metadata: { name } };
      await world.registry("namespaces").create(namespace, "", context);
    }
    return world;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cachers.close();
    await this.store.close();
    if (this.errors.length > 0) throw new AggregateError(this.errors);
  }

  registry(resource: string, group = ""): Registry {
    return this.registries.builtIn({ group, resource });
  }

  /** Parts of the controllers. Dispose of `shared` along with the controller. */
  parts(shared: DisposableStack) {
    const { store, clock } = this;
    const [nodes, pods, events] = [this.registry("nodes"), this.registry("pods"), this.registry("events")];
    return {
      nodes,
      pods,
      events,
      leases: this.registry("leases", "coordination.k8s.io"),
      clusterNodes: shared.use(new ClusterNodes({ nodes, store })),
      podsOnNodes: shared.use(new PodsOnNodes({ pods, store })),
      store,
      clock,
      onError: (error: unknown) => void this.errors.push(error),
    };
  }

  /** Advances time in steps of a second. `everySecond` simulates the nodes in between. */
  async pass(seconds: number, everySecond: () => Promise<void> = async () => {}): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.clock.advance(1_000);
      await everySecond();
      await settle(20);
    }
  }

  async createNode(
    name: string,
    ready: "True" | "False" | "unreported" = "True",
    more: JsonObject = {},
  ): Promise<void> {
    const { metadata = {}, ...rest } = more;
    const status = ready === "unreported" ? {} : { conditions: [this.#readyCondition(ready)] };
    const object = { kind: "Node", apiVersion: "v1", metadata: { name, ...(metadata as object) }, status, ...rest };
    await this.registry("nodes").create(object as unknown as KubeObject, "", context);
  }

  async deleteNode(name: string): Promise<void> {
    await this.registry("nodes").delete("", name, plainDeletion, context);
  }

  /** Changes a node as an administrator does. */
  async changeNode(name: string, change: (node: Node) => Node): Promise<void> {
    await this.registry("nodes").update("", name, (old) => change(old as Node), context, { reapplies: true });
  }

  /** Reports a status as the node itself does. */
  async report(name: string, ready: "True" | "False", others: readonly NodeCondition[] = []): Promise<void> {
    const conditions = [this.#readyCondition(ready), ...others];
    const transform = (old: Node) => ({ ...old, status: { ...old.status, conditions } });
    const strategy = strategyOf(nodeKind, "status");
    const options = { strategy, subresource: "status", reapplies: true };
    await this.registry("nodes").update("", name, transform, context, options);
  }

  async renewLease(name: string): Promise<void> {
    const leases = this.registry("leases", "coordination.k8s.io");
    const spec = { holderIdentity: name, renewTime: formatMicroTime(this.clock.nowMs()) };
    const metadata = { name, namespace: "kube-node-lease" };
    const made = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec };
    const make = (old: KubeObject | undefined) => ({ ...(old ?? made), spec }) as unknown as KubeObject;
    await leases.upsert("kube-node-lease", name, make, context, { reapplies: true });
  }

  async createPod(name: string, nodeName: string, spec: Partial<PodSpec> = {}, status: PodStatus = {}): Promise<void> {
    const containers = [{ name: "c", image: "i" }];
    const place = nodeName === "" ? {} : { nodeName };
    const metadata = { name, namespace: "default" };
    const pod = { kind: "Pod", apiVersion: "v1", metadata, spec: { containers, ...place, ...spec } };
    await this.registry("pods").create(pod as unknown as KubeObject, "default", context);
    const transform = (old: Pod): Pod => ({ ...old, status: { ...old.status, ...status } });
    const options = { strategy: strategyOf(podKind, "status"), subresource: "status", reapplies: true };
    await this.registry("pods").update("default", name, transform, context, options);
  }

  async deletePod(name: string, gracePeriodSeconds?: number): Promise<void> {
    await this.registry("pods").delete("default", name, { ...plainDeletion, gracePeriodSeconds }, context);
  }

  /** Changes a pod as its owner does. */
  async changePod(name: string, change: (pod: Pod) => Pod): Promise<void> {
    await this.registry("pods").update("default", name, (old) => change(old as Pod), context, { reapplies: true });
  }

  async bindPod(name: string, nodeName: string): Promise<void> {
    const transform = (old: Pod) => ({ ...old, spec: { ...old.spec, nodeName } }) as Pod;
    const strategy = { ...strategyOf(podKind), validateUpdate: () => [] };
    await this.registry("pods").update("default", name, transform, context, { strategy, reapplies: true });
  }

  node(name: string): Node | undefined {
    return this.registry("nodes").current("", name) as Node | undefined;
  }

  pod(name: string): Pod | undefined {
    return this.registry("pods").current("default", name) as Pod | undefined;
  }

  pods(): string[] {
    const { keyPrefix } = this.registry("pods").info;
    return this.store.scan(keyPrefix).map(({ key }) => key.slice(key.lastIndexOf("/") + 1));
  }

  taints(name: string): string[] {
    return (this.node(name)?.spec?.taints ?? []).map(({ key, effect }) => `${key.split("/")[1]}:${effect}`).sort();
  }

  /** Returns the Events as text, oldest first. */
  events(): string[] {
    const { info } = this.registry("events");
    const events = this.store
      .scan(info.keyPrefix)
      .map((entry) => ({ entry, event: decodeEntry(entry, info) as Event }));
    events.sort((one, other) => one.entry.createRevision - other.entry.createRevision);
    return events.map(({ event }) => `${event.type} ${event.reason} ${event.message}`);
  }

  #readyCondition(status: "True" | "False"): NodeCondition {
    const now = formatTime(this.clock.nowMs());
    const reason = status === "True" ? "KubeletReady" : "KubeletNotReady";
    return { type: "Ready", status, reason, lastHeartbeatTime: now, lastTransitionTime: now };
  }
}
