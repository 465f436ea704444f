import { StatusError, status } from "../../api/status.ts";
import type { Node } from "../../api/types/core-v1.ts";
import { type Cidr, parseCidr } from "../../api/validation/ip.ts";
import type { Clock } from "../../process/clock.ts";
import type { FindPremise } from "../../registry/admission.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Store } from "../../storage/store.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { takeOver } from "../takeover.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { CidrSet, type CidrSetObserver, type NodeCidrRange } from "./cidr-set.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";

const component = "cidrAllocator";
const workers = 30;

export interface NodeIpamParts extends QueueSource {
  readonly nodes: Registry;
  readonly events: Registry;
  readonly clusterNodes: ClusterNodes;
  readonly store: Store;
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
  #sets: readonly CidrSet[] = [];
  /** Resolves when the parts in use are known, with the premise of all assignments. */
  #takeover: Promise<FindPremise> | undefined;
  /** Parts that each node has or is about to get, in the order of the ranges. */
  readonly #assigned = new Map<string, readonly string[]>();

  constructor(parts: NodeIpamParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#recorder = this.#running.use(new EventRecorder({ ...parts, component }));
    const work = (name: string) => this.#assign(name);
    this.#queue = this.#running.use(
      new WorkQueue({ name: "cidrallocator_node", clock, observeQueue, onError, workers, work }),
    );
  }

  start(): Disposable {
    const { clusterNodes } = this.#parts;
    for (const name of clusterNodes.names()) this.#queue.add(name);
    clusterNodes.follow((name, type) => {
      if (type === "DELETED") this.#release(name);
      else this.#queue.add(name);
    });
    return this.#running;
  }

  /**
   * Takes over from an earlier leader. One of its assignments may still be under way, and two nodes must never have the
   * same part.
   */
  async #takeOver(): Promise<FindPremise> {
    const taking = takeOver(this.#parts.store, "node-ipam-controller", () => {
      if (this.#takeover === taken) this.#takeover = undefined;
    });
    const taken = taking.then((premise) => {
      this.#readParts();
      return premise;
    });
    this.#takeover = taken;
    taken.catch(() => (this.#takeover = undefined));
    return taken;
  }

  /** Reads which parts are in use. All have to be known before one is given out. */
  #readParts(): void {
    const { clusterNodes, serviceRanges, ranges, observer, nodes, onError } = this.#parts;
    this.#sets = ranges.map((range) => new CidrSet(range, observer));
    this.#assigned.clear();
    for (const range of serviceRanges) for (const set of this.#sets) set.occupy(range);
    for (const name of clusterNodes.names()) {
      const present = (nodes.current("", name) as Node | undefined)?.spec?.podCIDRs ?? [];
      try {
        if (present.length > 0) this.#occupy(name, present);
      } catch (error) {
        onError(error);
      }
    }
  }

  async #assign(name: string): Promise<void> {
    const premise = await (this.#takeover ?? this.#takeOver());
    const node = this.#parts.nodes.current("", name) as Node | undefined;
    if (node === undefined || node.metadata.deletionTimestamp !== undefined || this.#running.disposed) return;
    const present = node.spec?.podCIDRs ?? [];
    if (present.length > 0) this.#occupy(name, present);
    else await this.#write(node, name, this.#assigned.get(name) ?? this.#allocate(node, name), premise);
  }

  #allocate(node: Node, name: string): readonly string[] {
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
    this.#assigned.set(name, allocated);
    return allocated;
  }

  async #write(node: Node, name: string, podCIDRs: readonly string[], premise: FindPremise): Promise<void> {
    let isTaken = false;
    const assigned = (old: Node): Node => {
      isTaken = old.metadata.uid === node.metadata.uid && (old.spec?.podCIDRs ?? []).length === 0;
      return isTaken ? { ...old, spec: { ...old.spec, podCIDR: podCIDRs[0] ?? "", podCIDRs: [...podCIDRs] } } : old;
    };
    try {
      await this.#parts.nodes.update("", name, assigned, controllerManagerContext, { reapplies: true, premise });
    } catch (error) {
      // After other failures the parts may still be written, so they stay the node's and are written again.
      if (!(error instanceof StatusError)) throw error;
      this.#release(name);
      if (error.code === 404) return;
      this.#recordEvent(node, name, "CIDRAssignmentFailed");
      throw error;
    }
    // Somebody else has assigned its parts, or the node is another one by now.
    if (!isTaken) this.#release(name);
  }

  /** Records the parts that a node has, in place of those that it was about to get. */
  #occupy(name: string, podCIDRs: readonly string[]): void {
    if (this.#assigned.get(name)?.join() === podCIDRs.join()) return;
    this.#release(name);
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
