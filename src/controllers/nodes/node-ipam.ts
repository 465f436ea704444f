import { StatusError, status } from "../../api/status.ts";
import type { Node } from "../../api/types/core-v1.ts";
import { type Cidr, parseCidr } from "../../api/validation/ip.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { CidrSet, type CidrSetObserver, type NodeCidrRange } from "./cidr-set.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";

const component = "cidrAllocator";
const workers = 30;

export interface NodeIpamParts extends QueueSource {
  readonly nodes: Registry;
  readonly events: Registry;
  readonly clusterNodes: ClusterNodes;
  readonly clock: Clock;
  /** Ranges of pods, one of each family. */
  readonly ranges: readonly NodeCidrRange[];
  /** Ranges of Services, of which no node gets a part. */
  readonly serviceRanges: readonly Cidr[];
  readonly observer?: CidrSetObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/** Gives every node a part of each range for the addresses of its pods. */
export class NodeIpam {
  readonly #parts: NodeIpamParts;
  readonly #running = new DisposableStack();
  readonly #recorder: EventRecorder;
  readonly #queue: WorkQueue;
  readonly #sets: readonly CidrSet[];
  /** Parts of each node, in the order of the ranges. */
  readonly #assigned = new Map<string, readonly string[]>();

  constructor(parts: NodeIpamParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#recorder = this.#running.use(new EventRecorder({ ...parts, component }));
    const work = (name: string) => this.#assign(name);
    this.#queue = this.#running.use(
      new WorkQueue({ name: "cidrallocator_node", clock, observeQueue, onError, workers, work }),
    );
    this.#sets = parts.ranges.map((range) => new CidrSet(range, parts.observer));
  }

  start(): Disposable {
    const { clusterNodes, serviceRanges, nodes, onError } = this.#parts;
    for (const range of serviceRanges) for (const set of this.#sets) set.occupy(range);
    // All parts in use have to be known before one is given out.
    for (const name of clusterNodes.names()) {
      const node = nodes.current("", name) as Node | undefined;
      try {
        if (node !== undefined) this.#occupy(name, node.spec?.podCIDRs ?? []);
      } catch (error) {
        onError(error);
      }
      this.#queue.add(name);
    }
    clusterNodes.follow((name, type) => {
      if (type === "DELETED") this.#release(name);
      else this.#queue.add(name);
    });
    return this.#running;
  }

  async #assign(name: string): Promise<void> {
    const node = this.#parts.nodes.current("", name) as Node | undefined;
    if (node === undefined || node.metadata.deletionTimestamp !== undefined || this.#running.disposed) return;
    const present = node.spec?.podCIDRs ?? [];
    if (present.length > 0) this.#occupy(name, present);
    else await this.#write(node, name, this.#allocate(node, name));
  }

  #allocate(node: Node, name: string): string[] {
    const allocated: string[] = [];
    for (const [at, set] of this.#sets.entries()) {
      const cidr = set.allocate();
      if (cidr !== undefined) {
        allocated.push(cidr);
        continue;
      }
      this.#giveBack(allocated);
      this.#recordEvent(node, name, "CIDRNotAvailable");
      throw status.serviceUnavailable(`the range of pods ${this.#sets[at]?.text} has no part left for node ${name}`);
    }
    return allocated;
  }

  async #write(node: Node, name: string, podCIDRs: string[]): Promise<void> {
    let isTaken = false;
    const assigned = (old: Node): Node => {
      isTaken = old.metadata.uid === node.metadata.uid && (old.spec?.podCIDRs ?? []).length === 0;
      return isTaken ? { ...old, spec: { ...old.spec, podCIDR: podCIDRs[0] ?? "", podCIDRs } } : old;
    };
    try {
      await this.#parts.nodes.update("", name, assigned, controllerManagerContext, { reapplies: true });
    } catch (error) {
      // After other failures the part may have been written, so it stays in use until the next leader.
      if (!(error instanceof StatusError)) throw error;
      this.#giveBack(podCIDRs);
      if (error.code === 404) return;
      this.#recordEvent(node, name, "CIDRAssignmentFailed");
      throw error;
    }
    if (isTaken) this.#assigned.set(name, podCIDRs);
    else this.#giveBack(podCIDRs);
    // The node may have gone while it was written.
    if (!this.#parts.clusterNodes.has(name)) this.#release(name);
  }

  #occupy(name: string, podCIDRs: readonly string[]): void {
    if (this.#assigned.has(name)) return;
    this.#assigned.set(name, podCIDRs);
    const outside = podCIDRs.filter((text, at) => {
      const cidr = parseCidr(text);
      return cidr === undefined || this.#sets[at]?.occupy(cidr) !== true;
    });
    if (outside.length === 0) return;
    throw new Error(`node ${name} has the range of pods ${outside.join(", ")}, which is not in --cluster-cidr`);
  }

  #release(name: string): void {
    this.#giveBack(this.#assigned.get(name) ?? []);
    this.#assigned.delete(name);
  }

  #giveBack(podCIDRs: readonly string[]): void {
    for (const [at, text] of podCIDRs.entries()) {
      const cidr = parseCidr(text);
      if (cidr !== undefined) this.#sets[at]?.release(cidr);
    }
  }

  #recordEvent({ metadata: { uid = "" } }: Node, name: string, reason: string): void {
    const about = { apiVersion: "v1", kind: "Node", name, uid };
    this.#recorder.record({ about, type: "Normal", reason, message: `Node ${name} status is now: ${reason}` });
  }
}
