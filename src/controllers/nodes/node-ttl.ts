import type { Node } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { unlessGone } from "../unless-gone.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";

const annotation = "node.alpha.kubernetes.io/ttl";
const workers = 5;

/**
 * Times for which agents of nodes may cache Secrets and ConfigMaps, by the number of nodes. The sizes overlap, so that a
 * cluster whose size varies a little keeps its time.
 */
const steps = [
  { sizeMin: 0, sizeMax: 100, seconds: 0 },
  { sizeMin: 90, sizeMax: 500, seconds: 15 },
  { sizeMin: 450, sizeMax: 1_000, seconds: 30 },
  { sizeMin: 900, sizeMax: 2_000, seconds: 60 },
  { sizeMin: 1_800, sizeMax: Number.POSITIVE_INFINITY, seconds: 300 },
] as const;

/** Follows the size of a cluster, from an empty one on. */
export class TtlStep {
  #step = 0;

  get seconds(): number {
    return steps[this.#step]?.seconds ?? 0;
  }

  /** Records the number of nodes after each change. */
  resize(size: number): void {
    while (size > (steps[this.#step]?.sizeMax ?? size)) this.#step++;
    while (size < (steps[this.#step]?.sizeMin ?? 0)) this.#step--;
  }
}

export interface NodeTtlParts extends QueueSource {
  readonly nodes: Registry;
  readonly clusterNodes: ClusterNodes;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Maintains the annotation on every node with the time for which its agent may cache objects. */
export function startNodeTtl({ nodes, clusterNodes, clock, observeQueue, onError }: NodeTtlParts): Disposable {
  const running = new DisposableStack();
  const step = new TtlStep();
  const work = async (name: string) => {
    const annotated = (old: Node): Node => {
      const seconds = String(step.seconds);
      const { annotations = {} } = old.metadata;
      if (annotations[annotation] === seconds) return old;
      return { ...old, metadata: { ...old.metadata, annotations: { ...annotations, [annotation]: seconds } } };
    };
    const current = nodes.current("", name) as Node | undefined;
    if (current === undefined || annotated(current) === current) return;
    await unlessGone(nodes.update("", name, annotated, controllerManagerContext, { reapplies: true }));
  };
  const queue = running.use(new WorkQueue({ name: "ttlcontroller", clock, observeQueue, onError, workers, work }));
  clusterNodes.follow((name, type) => {
    step.resize(clusterNodes.size);
    if (type !== "DELETED") queue.add(name);
  });
  step.resize(clusterNodes.size);
  for (const name of clusterNodes.names()) queue.add(name);
  return running;
}
