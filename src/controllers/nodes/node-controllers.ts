import type { ServiceAllocation } from "../../kinds/service-allocation/service-allocation.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Store } from "../../storage/store.ts";
import type { ControllerName } from "../controller-names.ts";
import type { QueueSource } from "../work-queue.ts";
import type { CidrSetObserver, NodeCidrRange } from "./cidr-set.ts";
import { ClusterNodes } from "./cluster-nodes.ts";
import { NodeIpam } from "./node-ipam.ts";
import { NodeLifecycle } from "./node-lifecycle.ts";
import type { NodeLifecycleObserver } from "./node-lifecycle-observer.ts";
import type { NodeLifecycleSettings } from "./node-lifecycle-settings.ts";
import { startNodeTtl } from "./node-ttl.ts";
import { PodGarbage, type PodGarbageObserver } from "./pod-garbage.ts";
import { PodsOnNodes } from "./pods-on-nodes.ts";
import { TaintEviction } from "./taint-eviction.ts";

/** Measures the controllers of nodes. */
export interface NodeObservers {
  readonly lifecycle?: NodeLifecycleObserver | undefined;
  /** Receives the time from when each evicted pod was due until it was deleted. */
  readonly evicted?: ((seconds: number) => void) | undefined;
  readonly podGarbage?: PodGarbageObserver | undefined;
  readonly cidrs?: CidrSetObserver | undefined;
}

export interface NodeControllersParts extends QueueSource {
  readonly registries: Registries;
  readonly store: Store;
  readonly clock: Clock;
  readonly controllers: ReadonlySet<ControllerName>;
  /** Ranges of pod addresses of which every node gets a part. Empty if nodes get no addresses. */
  readonly nodeCidrRanges: readonly NodeCidrRange[];
  /** Undefined where Services get no addresses. */
  readonly serviceAllocation: ServiceAllocation | undefined;
  /** Number of ended pods to keep; 0 keeps all. */
  readonly terminatedPodsMax: number;
  readonly nodeLifecycle: NodeLifecycleSettings;
  readonly nodeObservers?: NodeObservers | undefined;
  readonly onError: (error: unknown) => void;
}

/** Starts the controllers of nodes and of the pods on them, which share their caches of both. */
export function startNodeControllers(parts: NodeControllersParts): Disposable {
  const { registries, store, controllers, nodeObservers = {} } = parts;
  const registry = (resource: string, group = "") => registries.builtIn({ group, resource });
  const [nodes, pods, events] = [registry("nodes"), registry("pods"), registry("events")];
  const running = new DisposableStack();
  const clusterNodes = running.use(new ClusterNodes({ nodes, store }));
  const podsOnNodes = running.use(new PodsOnNodes({ pods, store }));
  const shared = { ...parts, nodes, pods, events, clusterNodes, podsOnNodes };
  if (controllers.has("node-lifecycle-controller")) {
    const leases = registry("leases", "coordination.k8s.io");
    const lifecycle = { ...shared, leases, settings: parts.nodeLifecycle, observer: nodeObservers.lifecycle };
    running.use(new NodeLifecycle(lifecycle).start());
  }
  if (controllers.has("taint-eviction-controller")) {
    running.use(new TaintEviction({ ...shared, evicted: nodeObservers.evicted }).start());
  }
  if (controllers.has("pod-garbage-collector-controller")) {
    const { terminatedPodsMax: terminatedMax } = parts;
    running.use(new PodGarbage({ ...shared, terminatedMax, observer: nodeObservers.podGarbage }).start());
  }
  if (controllers.has("ttl-controller")) running.use(startNodeTtl(shared));
  if (controllers.has("node-ipam-controller") && parts.nodeCidrRanges.length > 0) {
    const serviceRanges = parts.serviceAllocation?.network.clusterIps.map(({ cidr }) => cidr) ?? [];
    const ipam = { ...shared, ranges: parts.nodeCidrRanges, serviceRanges, observer: nodeObservers.cidrs };
    running.use(new NodeIpam(ipam).start());
  }
  return running;
}
