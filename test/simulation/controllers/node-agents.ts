import type { World } from "../../../raft/testing/simulator/world.ts";
import { formatMicroTime, formatTime } from "../../../src/api/time.ts";
import type { Node, Pod } from "../../../src/api/types/core-v1.ts";
import type { Clock } from "../../../src/process/clock.ts";
import type { Store } from "../../../src/storage/store.ts";
import type { Actor } from "./actor.ts";
import { objectOf, prefixes } from "./cluster-objects.ts";

const renewMs = 1_000;
export const nodeNames = ["n0", "n1", "n2", "n3"] as const;
/** A node that never falls silent and is never deleted. */
export const steadyNode = "n0";

/** The agents of the nodes. They report, run pods, and finish the deletion of pods, unless they are silent. */
export class NodeAgents {
  readonly #world: World;
  readonly silent = new Set<string>();
  readonly #renewedMs = new Map<string, number>();
  #pods = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Lets some node fall silent, or return. */
  disturb(): void {
    const name = this.#world.random.pick(nodeNames);
    if (name === steadyNode) return;
    if (!this.silent.delete(name)) this.silent.add(name);
  }

  /** Does what is due on the nodes, as far as this replica knows of it. */
  async work(actor: Actor, store: Store, clock: Clock): Promise<void> {
    for (const entry of store.scan(prefixes.nodes)) {
      const node = objectOf<Node>(entry);
      const name = node.metadata.name ?? "";
      if (!this.silent.has(name)) await this.#report(actor, node, clock);
    }
    for (const entry of store.scan(prefixes.pods)) {
      const pod = objectOf<Pod>(entry);
      const nodeName = pod.spec?.nodeName ?? "";
      const hasNode = store.get(`${prefixes.nodes}${nodeName}`) !== undefined;
      if (hasNode && !this.silent.has(nodeName)) await this.#run(actor, pod);
    }
  }

  async #report(actor: Actor, { metadata: { name = "" }, status }: Node, clock: Clock): Promise<void> {
    const { now } = this.#world;
    if (now - (this.#renewedMs.get(name) ?? Number.NEGATIVE_INFINITY) < renewMs) return;
    this.#renewedMs.set(name, now);
    const metadata = { name, namespace: "kube-node-lease" };
    const spec = { holderIdentity: name, renewTime: formatMicroTime(clock.nowMs()) };
    const lease = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata };
    await actor.put("leases.coordination.k8s.io", "kube-node-lease", name, (old) => ({ ...(old ?? lease), spec }));
    if (status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")) return;
    const conditions = [readyCondition(clock)];
    await actor.update("nodes", "", name, (old) => ({ ...old, status: { ...old.status, conditions } }), "status");
  }

  async #run(actor: Actor, { metadata, status }: Pod): Promise<void> {
    const { namespace = "", name = "", uid } = metadata;
    if (metadata.deletionTimestamp !== undefined) {
      const preconditions = { uid, resourceVersion: undefined };
      return actor.delete("pods", namespace, name, { gracePeriodSeconds: 0, preconditions });
    }
    const ended = status?.phase === "Failed" || status?.phase === "Succeeded";
    const isReady = status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
    if (ended || (isReady && status?.podIP !== undefined)) return;
    const podIP = status?.podIP ?? `10.9.${this.#pods >> 8}.${this.#pods++ & 255}`;
    const change = {
      phase: "Running",
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: [{ type: "Ready", status: "True" }],
    };
    await actor.update(
      "pods",
      namespace,
      name,
      (old) => (old.metadata.uid === uid ? { ...old, status: { ...old.status, ...change } } : old),
      "status",
    );
  }
}

export function readyCondition(clock: Clock): object {
  const now = formatTime(clock.nowMs());
  return { type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime: now, lastTransitionTime: now };
}
