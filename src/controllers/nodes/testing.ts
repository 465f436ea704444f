import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatMicroTime, formatTime } from "../../api/time.ts";
import type { Event, Node, NodeCondition, Pod, PodSpec, PodStatus } from "../../api/types/core-v1.ts";
import { pod as podKind } from "../../kinds/core/pod.ts";
import { strategyOf } from "../../registry/kind.ts";
import { settle } from "../../storage/cacher/testing.ts";
import { ControllerTest, testContext } from "../testing.ts";
import { ClusterNodes } from "./cluster-nodes.ts";
import { nodeLifecycleDefaults } from "./node-lifecycle-settings.ts";
import { PodsOnNodes } from "./pods-on-nodes.ts";

/** A store with nodes and pods. It has no admission plugins, which would add tolerations to pods. */
export class NodeWorld extends ControllerTest {
  static override async open(): Promise<NodeWorld> {
    const world = new NodeWorld([]);
    for (const name of ["default", "kube-node-lease"]) {
      await world.create("namespaces", { kind: "Namespace", metadata: { name } });
    }
    return world;
  }

  /** @throws AggregateError if a controller has reported errors */
  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    if (this.errors.length > 0) throw new AggregateError(this.errors);
  }

  /** Parts of the controllers. Dispose of `shared` along with the controller. */
  parts(shared: DisposableStack) {
    const { store, clock, onError } = this;
    const [nodes, pods, events] = [this.registry("nodes"), this.registry("pods"), this.registry("events")];
    return {
      nodes,
      pods,
      events,
      leases: this.registry("leases.coordination.k8s.io"),
      clusterNodes: shared.use(new ClusterNodes({ nodes, store })),
      settings: nodeLifecycleDefaults,
      podsOnNodes: shared.use(new PodsOnNodes({ pods, store })),
      store,
      clock,
      onError,
    };
  }

  /** Advances time in steps of a second. `everySecond` simulates the nodes in between. */
  async passSeconds(seconds: number, everySecond: () => Promise<void> = async () => {}): Promise<void> {
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
    await this.create("nodes", { kind: "Node", metadata: { name, ...(metadata as object) }, status, ...rest });
  }

  deleteNode(name: string): Promise<void> {
    return this.delete("nodes", name);
  }

  /** Changes a node as an administrator does. */
  changeNode(name: string, change: (node: Node) => Node): Promise<void> {
    return this.update("nodes", name, change);
  }

  /** Reports a status as the node itself does. */
  report(name: string, ready: "True" | "False", others: readonly NodeCondition[] = []): Promise<void> {
    const conditions = [this.#readyCondition(ready), ...others];
    return this.update("nodes", name, (old: Node) => ({ ...old, status: { ...old.status, conditions } }), "status");
  }

  async renewLease(name: string): Promise<void> {
    const leases = this.registry("leases.coordination.k8s.io");
    const spec = { holderIdentity: name, renewTime: formatMicroTime(this.clock.nowMs()) };
    const metadata = { name, namespace: "kube-node-lease" };
    const made = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec };
    const make = (old: KubeObject | undefined) => ({ ...(old ?? made), spec }) as unknown as KubeObject;
    await leases.upsert("kube-node-lease", name, make, testContext, { reapplies: true });
  }

  async createPod(name: string, nodeName: string, spec: Partial<PodSpec> = {}, status: PodStatus = {}): Promise<void> {
    const containers = [{ name: "c", image: "i" }];
    const place = nodeName === "" ? {} : { nodeName };
    const metadata = { name, namespace: "default" };
    await this.create("pods", { kind: "Pod", metadata, spec: { containers, ...place, ...spec } });
    const change = (old: Pod): Pod => ({ ...old, status: { ...old.status, ...status } });
    await this.update("pods", name, change, "status", "default");
  }

  deletePod(name: string, gracePeriodSeconds?: number): Promise<void> {
    return this.delete("pods", name, { gracePeriodSeconds }, "default");
  }

  /** Changes a pod as its owner does. */
  changePod(name: string, change: (pod: Pod) => Pod): Promise<void> {
    return this.update("pods", name, change, undefined, "default");
  }

  async bindPod(name: string, nodeName: string): Promise<void> {
    const transform = (old: Pod) => ({ ...old, spec: { ...old.spec, nodeName } }) as Pod;
    const strategy = { ...strategyOf(podKind), validateUpdate: () => [] };
    await this.registry("pods").update("default", name, transform, testContext, { strategy, reapplies: true });
  }

  node(name: string): Node | undefined {
    return this.get<Node>("nodes", name, "");
  }

  pod(name: string): Pod | undefined {
    return this.get<Pod>("pods", name, "default");
  }

  pods(): string[] {
    return this.list<Pod>("pods").map(({ metadata }) => metadata.name ?? "");
  }

  taints(name: string): string[] {
    return (this.node(name)?.spec?.taints ?? []).map(({ key, effect }) => `${key.split("/")[1]}:${effect}`).sort();
  }

  /** Returns the Events with their types, oldest first. */
  typedEvents(): string[] {
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
