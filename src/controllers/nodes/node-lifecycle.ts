import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import { StatusError } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import type { Node, NodeCondition } from "../../api/types/core-v1.ts";
import { node as nodeKind } from "../../kinds/core/node.ts";
import type { Clock } from "../../process/clock.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { type Store, StoreUnavailableError } from "../../storage/store.ts";
import { eachAtATime } from "../each-at-a-time.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { type RecordEvent, recordingWith } from "../events/record-event.ts";
import { unlessGone } from "../unless-gone.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import { isSilent, type NodeHealth, observedHealth, silentConditions } from "./node-health.ts";
import { reconciledLabels } from "./node-labels.ts";
import type { NodeLifecycleObserver } from "./node-lifecycle-observer.ts";
import type { NodeLifecycleSettings } from "./node-lifecycle-settings.ts";
import { type NodeState, readyConditionOf } from "./node-state.ts";
import {
  changedTaints,
  evictingTaints,
  hasTaint,
  notReadyTaint,
  schedulingTaints,
  type TaintIdentity,
  unreachableTaint,
} from "./node-taints.ts";
import { markPodNotReady } from "./pod-readiness.ts";
import { nodeOf, type PodsOnNodes } from "./pods-on-nodes.ts";
import { TaintQueue } from "./taint-queue.ts";
import { type Disruption, nextDisruption, type ZoneState } from "./zone-disruption.ts";

/** Number of nodes checked, and of nodes and pods changed, at a time. */
const checksAtATime = 8;
const nodeWorkers = 8;
const podWorkers = 4;
const leaseNamespace = "kube-node-lease";
const component = "node-controller";
const status = strategyOf(nodeKind, "status");
const everyEvictingTaint: readonly TaintIdentity[] = [notReadyTaint, unreachableTaint];

export interface NodeLifecycleParts extends QueueSource {
  readonly nodes: Registry;
  readonly pods: Registry;
  readonly leases: Registry;
  readonly events: Registry;
  readonly clusterNodes: ClusterNodes;
  readonly podsOnNodes: PodsOnNodes;
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: NodeLifecycleSettings;
  readonly observer?: NodeLifecycleObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/** Nodes of each zone, by readiness. */
type ZoneCounts = Map<string, { ready: number; notReady: number }>;

/**
 * Monitors the health of nodes. A node without a sign of life becomes Unknown, its pods become not ready, and it gets the
 * taints that match its conditions. Taints that evict pods come slowly, one node after the other, and not at all while
 * every node is silent.
 */
export class NodeLifecycle {
  readonly #parts: NodeLifecycleParts;
  readonly #running = new DisposableStack();
  readonly #slice = new TurnSlice();
  readonly #record: RecordEvent;
  readonly #nodeQueue: WorkQueue;
  readonly #podQueue: WorkQueue;
  /** Uids of the nodes that an Event has announced. */
  readonly #announced = new Map<string, string>();
  readonly #health = new Map<string, NodeHealth>();
  readonly #renewTimes = new WeakMap<Entry, string>();
  readonly #taintQueues = new Map<string, TaintQueue>();
  /** Nodes with pods that could not be marked not ready. */
  readonly #unmarked = new Set<string>();
  #zones: ReadonlyMap<string, ZoneState> = new Map();
  /** The timer of the checks; it runs while there are nodes. */
  #timer: Disposable | undefined;
  #isChecking = false;
  /** Start of the last check. */
  #checkedMs: number | undefined;

  constructor(parts: NodeLifecycleParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#record = recordingWith(this.#running.use(new EventRecorder({ ...parts, component })));
    const queue = (name: string, workers: number, work: (key: string) => Promise<void>) =>
      this.#running.use(new WorkQueue({ name, clock, observeQueue, workers, work, onError }));
    this.#nodeQueue = queue("node_lifecycle_controller", nodeWorkers, (name) => this.#reconcile(name));
    this.#podQueue = queue("node_lifecycle_controller_pods", podWorkers, (key) => this.#checkPod(key));
  }

  start(): Disposable {
    const { clusterNodes, podsOnNodes } = this.#parts;
    this.#running.defer(() => {
      this.#timer?.[Symbol.dispose]();
      for (const queue of this.#taintQueues.values()) queue[Symbol.dispose]();
    });
    clusterNodes.follow((name, type) => {
      if (this.#running.disposed) return;
      if (type === "DELETED") this.#forget(name);
      else this.#nodeQueue.add(name);
      this.#wake();
    });
    podsOnNodes.follow(({ type, entry, previous }) => {
      if (this.#running.disposed || type === "DELETED") return;
      const node = nodeOf(entry);
      if (node === "" || (previous !== undefined && nodeOf(previous) === node)) return;
      if (this.#isNotReady(node)) this.#podQueue.add(entry.key);
    });
    for (const name of clusterNodes.names()) this.#nodeQueue.add(name);
    this.#wake();
    return this.#running;
  }

  #wake(): void {
    if (this.#timer !== undefined || this.#parts.clusterNodes.size === 0) return;
    const { clock, settings, onError } = this.#parts;
    const check = () => void this.#checkAll().catch(onError);
    this.#timer = clock.every(settings.monitorPeriodMs, check);
    setImmediate(check);
  }

  #rest(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#checkedMs = undefined;
  }

  #forget(name: string): void {
    this.#health.delete(name);
    this.#unmarked.delete(name);
    for (const queue of this.#taintQueues.values()) queue.remove(name);
  }

  async #checkAll(): Promise<void> {
    if (this.#isChecking || this.#running.disposed) return;
    this.#isChecking = true;
    const { clock, clusterNodes, settings, observer } = this.#parts;
    const startedMs = clock.steadyMs();
    try {
      this.#excuseLateCheck(startedMs);
      const nodes = [...clusterNodes.names()].flatMap((name) => clusterNodes.get(name) ?? []);
      const added = this.#announce(nodes);
      this.#keepTaintQueues(nodes);
      const counts: ZoneCounts = new Map();
      await eachAtATime(nodes, checksAtATime, async (node) => {
        await this.#slice.pass();
        if (!this.#running.disposed) await this.#checkNode(node, added.has(node.name), counts);
      });
      if (this.#running.disposed) return;
      observer?.zones(counts);
      await this.#applyDisruption(nextDisruption(this.#zones, counts, settings), nodes);
      for (const queue of this.#taintQueues.values()) await queue.work();
      observer?.checkedAll((clock.steadyMs() - startedMs) / 1_000);
    } finally {
      this.#isChecking = false;
    }
    if (clusterNodes.size === 0) this.#rest();
  }

  /** Gives the nodes back the time in which this server stood still and missed signs of life. */
  #excuseLateCheck(startedMs: number): void {
    const { monitorPeriodMs } = this.#parts.settings;
    const lateMs = startedMs - (this.#checkedMs ?? startedMs) - monitorPeriodMs;
    this.#checkedMs = startedMs;
    if (lateMs <= monitorPeriodMs) return;
    for (const [name, health] of this.#health) {
      this.#health.set(name, { ...health, probeMs: health.probeMs + lateMs });
    }
  }

  /** Records which nodes have come and gone. @returns the names of new ones */
  #announce(nodes: readonly NodeState[]): ReadonlySet<string> {
    const added = nodes.filter(({ name, uid }) => this.#announced.get(name) !== uid);
    for (const [name, uid] of this.#announced) {
      if (this.#parts.clusterNodes.get(name)?.uid === uid) continue;
      this.#announced.delete(name);
      this.#recordEvent({ name, uid }, "RemovingNode", `Node ${name} event: Removing Node ${name} from Controller`);
    }
    for (const { name, uid } of added) {
      this.#announced.set(name, uid);
      this.#recordEvent({ name, uid }, "RegisteredNode", `Node ${name} event: Registered Node ${name} in Controller`);
    }
    return new Set(added.map(({ name }) => name));
  }

  /** Keeps one queue for every zone with nodes. */
  #keepTaintQueues(nodes: readonly NodeState[]): void {
    const { clock, settings, observer } = this.#parts;
    const zones = new Set(nodes.map(({ zone }) => zone));
    for (const [zone, queue] of this.#taintQueues) {
      if (zones.has(zone)) continue;
      queue[Symbol.dispose]();
      this.#taintQueues.delete(zone);
    }
    for (const zone of zones) {
      if (this.#taintQueues.has(zone)) continue;
      observer?.zoneAdded(zone);
      const taint = (name: string) => this.#taintToEvict(name, zone);
      this.#taintQueues.set(zone, new TaintQueue({ clock, rate: settings.evictionRate, taint }));
    }
  }

  async #checkNode(node: NodeState, isNew: boolean, counts: ZoneCounts): Promise<void> {
    const { clock, settings, observer } = this.#parts;
    const steadyMs = clock.steadyMs();
    const health = observedHealth(this.#health.get(node.name), node, this.#renewTimeOf(node.name), {
      steadyMs,
      nowMs: clock.nowMs(),
    });
    this.#health.set(node.name, health);
    let { ready } = node;
    if (isSilent(health, steadyMs, settings) && ready?.status !== "Unknown") {
      ready = await this.#declareUnknown(node);
      if (ready === undefined) return;
      if (ready.status === "Unknown") this.#health.set(node.name, { ...health, ready });
    }
    if (!node.isExcluded) countIn(counts, node.zone, ready?.status === "True");
    // Remove an earlier leader's taints from new nodes, because this one has no reason for them yet.
    const isCleared = isNew && (await this.#removeEvictingTaints(node));
    if (ready !== undefined) {
      await this.#adjustTaints(isCleared ? { ...node, taints: [] } : node, ready.status);
      await this.#reportReadiness(node, isNew, ready.status);
    }
    observer?.checkedNode((clock.steadyMs() - steadyMs) / 1_000);
  }

  #renewTimeOf(name: string): string | undefined {
    const { leases, store } = this.#parts;
    const entry = store.get(leases.keyOf(leaseNamespace, name));
    if (entry === undefined) return undefined;
    const known = this.#renewTimes.get(entry);
    if (known !== undefined) return known;
    const renewTime = (decodeEntry(entry, leases.info) as Lease).spec?.renewTime ?? "";
    this.#renewTimes.set(entry, renewTime);
    return renewTime;
  }

  /** Records that the node is silent, unless it has just reported. @returns its condition Ready; undefined on failure */
  async #declareUnknown(node: NodeState): Promise<NodeCondition | undefined> {
    const now = formatTime(this.#parts.clock.nowMs());
    let ready: NodeCondition | undefined;
    const isWritten = await this.#write(node.name, "status", (old) => {
      const conditions = old.status?.conditions ?? [];
      ready = readyConditionOf(conditions);
      const isSame = old.metadata.uid === node.uid && ready?.lastHeartbeatTime === node.ready?.lastHeartbeatTime;
      const next = isSame ? silentConditions(conditions, node.created, now) : undefined;
      if (next === undefined) return old;
      ready = readyConditionOf(next);
      return { ...old, status: { ...old.status, conditions: next } };
    });
    return isWritten ? ready : undefined;
  }

  async #adjustTaints(node: NodeState, ready: string): Promise<void> {
    const queue = this.#taintQueues.get(node.zone);
    if (ready === "True") {
      queue?.remove(node.name);
      await this.#removeEvictingTaints(node);
      return;
    }
    const { due, opposite } = evictingTaints(ready);
    if (hasTaint(node.taints, opposite)) {
      await this.#writeTaints(node, { added: [due], removed: [opposite] });
    } else if (!hasTaint(node.taints, due)) queue?.add(node.name);
  }

  async #removeEvictingTaints(node: NodeState): Promise<boolean> {
    if (!everyEvictingTaint.some((taint) => hasTaint(node.taints, taint))) return false;
    return this.#writeTaints(node, { added: [], removed: everyEvictingTaint });
  }

  #writeTaints(
    { name, uid }: NodeState,
    change: { readonly added: readonly TaintIdentity[]; readonly removed: readonly TaintIdentity[] },
  ): Promise<boolean> {
    const now = formatTime(this.#parts.clock.nowMs());
    return this.#write(name, "", (old) => {
      const taints = old.spec?.taints ?? [];
      const next = changedTaints(taints, change, now);
      return old.metadata.uid !== uid || next === taints ? old : { ...old, spec: { ...old.spec, taints: [...next] } };
    });
  }

  /** Gives a node the taint that its newest state requires. @returns false if this must be retried */
  async #taintToEvict(name: string, zone: string): Promise<boolean> {
    if (this.#running.disposed || !this.#parts.clusterNodes.has(name)) return true;
    const now = formatTime(this.#parts.clock.nowMs());
    let isTainted = false;
    const isDone = await this.#write(name, "", (old) => {
      const ready = readyConditionOf(old.status?.conditions)?.status;
      const taints = old.spec?.taints ?? [];
      isTainted = false;
      if (ready === undefined || ready === "True") return old;
      const { due, opposite } = evictingTaints(ready);
      const next = changedTaints(taints, { added: [due], removed: [opposite] }, now);
      isTainted = next !== taints;
      return isTainted ? { ...old, spec: { ...old.spec, taints: [...next] } } : old;
    });
    if (isDone && isTainted) this.#parts.observer?.evicted(zone);
    return isDone;
  }

  async #reportReadiness(node: NodeState, isNew: boolean, ready: string): Promise<void> {
    const { name } = node;
    if (ready === "True") {
      this.#unmarked.delete(name);
      return;
    }
    const wasReady = node.ready?.status === "True";
    if (wasReady) this.#recordEvent(node, "NodeNotReady", `Node ${name} status is now: NodeNotReady`);
    // An earlier leader may have stopped before it had marked the pods of a new node.
    if (!wasReady && !isNew && !this.#unmarked.has(name)) return;
    this.#unmarked.add(name);
    for (const key of this.#parts.podsOnNodes.on(name)) {
      if (this.#running.disposed) return;
      if (!(await this.#attempt(() => this.#markPod(key, name)))) return;
    }
    this.#unmarked.delete(name);
  }

  async #applyDisruption({ states, rates, total }: Disruption, nodes: readonly NodeState[]): Promise<void> {
    this.#zones = states;
    for (const [zone, rate] of rates) this.#taintQueues.get(zone)?.setRate(rate);
    if (total === "ends") {
      const probeMs = this.#parts.clock.steadyMs();
      for (const [name, health] of this.#health) this.#health.set(name, { ...health, probeMs });
    }
    if (total !== "begins") return;
    for (const { name } of nodes) {
      const node = this.#parts.clusterNodes.get(name);
      if (node !== undefined && !this.#running.disposed) await this.#removeEvictingTaints(node);
    }
  }

  #isNotReady(node: string): boolean {
    const ready = this.#health.get(node)?.ready;
    return ready !== undefined && ready.status !== "True";
  }

  /** Marks a pod not ready that was bound to a node which is not ready. */
  async #checkPod(key: string): Promise<void> {
    const entry = this.#parts.store.get(key);
    const node = entry === undefined ? "" : nodeOf(entry);
    if (this.#isNotReady(node)) await this.#markPod(key, node);
  }

  #markPod(key: string, node: string): Promise<void> {
    return markPodNotReady({ ...this.#parts, record: this.#record }, key, node);
  }

  /** Updates the scheduling taints and the labels of a node. */
  async #reconcile(name: string): Promise<void> {
    const { nodes, clock } = this.#parts;
    const now = formatTime(clock.nowMs());
    const current = nodes.current("", name) as Node | undefined;
    if (current === undefined || this.#running.disposed || reconciled(current, now) === current) return;
    const transform = (old: Node) => reconciled(old, now);
    await unlessGone(nodes.update("", name, transform, controllerManagerContext, { reapplies: true }));
  }

  /** @returns whether the node now has the form that `transform` makes */
  #write(name: string, subresource: "" | "status", transform: (old: Node) => Node): Promise<boolean> {
    if (this.#running.disposed) return Promise.resolve(false);
    const options = subresource === "status" ? { strategy: status, subresource, reapplies: true } : { reapplies: true };
    return this.#attempt(() => this.#parts.nodes.update("", name, transform, controllerManagerContext, options));
  }

  /** Reports whether a write succeeded. The next check repeats a failed one. */
  async #attempt(write: () => Promise<unknown>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      const isExpected = error instanceof StatusError || error instanceof StoreUnavailableError;
      if (!isExpected) this.#parts.onError(error);
      return false;
    }
  }

  #recordEvent({ name, uid }: Pick<NodeState, "name" | "uid">, reason: string, message: string): void {
    this.#record({ apiVersion: "v1", kind: "Node", metadata: { name, uid } }, { type: "Normal", reason, message });
  }
}

function reconciled(node: Node, now: string): Node {
  const { metadata, spec } = node;
  const taints = schedulingTaints(node, now);
  const labels = reconciledLabels(metadata.labels ?? {});
  const hasSameTaints = taints === spec?.taints || (taints.length === 0 && (spec?.taints ?? []).length === 0);
  const hasSameLabels = metadata.labels === undefined || labels === metadata.labels;
  if (hasSameTaints && hasSameLabels) return node;
  return {
    ...node,
    metadata: hasSameLabels ? metadata : { ...metadata, labels: { ...labels } },
    spec: hasSameTaints ? (spec ?? {}) : { ...spec, taints: [...taints] },
  };
}

function countIn(counts: ZoneCounts, zone: string, isReady: boolean): void {
  const count = counts.get(zone) ?? { ready: 0, notReady: 0 };
  if (isReady) count.ready++;
  else count.notReady++;
  counts.set(zone, count);
}
