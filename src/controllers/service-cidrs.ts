import type { Key } from "../api/entry.ts";
import { equalJson } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { formatTime } from "../api/time.ts";
import type { Condition } from "../api/types/meta-v1.ts";
import type { ServiceCIDR } from "../api/types/networking-v1.ts";
import { parseIp } from "../api/validation/ip.ts";
import { serviceCidr } from "../kinds/networking/service-cidr.ts";
import { addressManagedByLabel, addressManager } from "../kinds/service-allocation/cluster-ip-allocator.ts";
import { type IpRange, inRange, ipRange } from "../kinds/service-allocation/ip-range.ts";
import type { Clock } from "../process/clock.ts";
import { strategyOf } from "../registry/kind.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";
import type { Store } from "../storage/store.ts";
import { followObjects } from "./follow-objects.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const finalizer = "networking.k8s.io/service-cidr-finalizer";

/** The single key under which all are checked together. */
const round = "all";

const readyMessage = "Kubernetes Service CIDR is ready";
const inUseMessage =
  "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR";

export interface ServiceCidrsParts extends QueueSource {
  readonly serviceCidrs: Registry;
  readonly addresses: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Reports in each ServiceCIDR whether its addresses are allocated, and lets it be deleted only if every used address also
 * lies in another one. All are checked together, because they are few and depend on each other.
 */
export class ServiceCidrs {
  readonly #parts: ServiceCidrsParts;
  readonly #queue: WorkQueue;
  /** Whether deleted ServiceCIDRs wait for the release of their addresses. */
  #areWaiting = false;

  constructor(parts: ServiceCidrsParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#queue = new WorkQueue({ name: "servicecidrs", clock, observeQueue, onError, work: () => this.#checkAll() });
  }

  start(): Disposable {
    const { store, serviceCidrs, addresses } = this.#parts;
    const running = new DisposableStack();
    running.use(this.#queue);
    running.use(followObjects(store, serviceCidrs.info.keyPrefix, () => this.#queue.add(round)));
    running.use(
      followObjects(store, addresses.info.keyPrefix, (_key, type) => {
        if (this.#areWaiting && type === "DELETED") this.#queue.add(round);
      }),
    );
    return running;
  }

  async #checkAll(): Promise<void> {
    const { keyPrefix } = this.#parts.serviceCidrs.info;
    const names = this.#parts.store.scan(keyPrefix).map(({ key }) => key.slice(keyPrefix.length));
    this.#areWaiting = false;
    for (const name of names) {
      const cidr = this.#parts.serviceCidrs.current("", name);
      if (cidr === undefined) continue;
      if (cidr.metadata.deletionTimestamp === undefined) await this.#serve(name, cidr);
      else await this.#letGo(name, cidr);
    }
  }

  async #serve(name: string, cidr: KubeObject): Promise<void> {
    if (!hasFinalizer(cidr)) {
      await this.#parts.serviceCidrs.update("", name, withFinalizer, serverContext, { reapplies: true });
    }
    await this.#tell(name, "True", "", readyMessage);
  }

  async #letGo(name: string, cidr: KubeObject): Promise<void> {
    if (!hasFinalizer(cidr)) return;
    if (this.#isNeeded(name, cidr)) {
      this.#areWaiting = true;
      await this.#tell(name, "False", "Terminating", inUseMessage);
      return;
    }
    await this.#parts.serviceCidrs.update("", name, withoutFinalizer, serverContext, { reapplies: true });
  }

  /** Reports whether one of its addresses lies in no other remaining ServiceCIDR. */
  #isNeeded(name: string, cidr: KubeObject): boolean {
    const { store, serviceCidrs, addresses } = this.#parts;
    const own = rangesOf(cidr);
    const others = namesBelow(store, serviceCidrs.info.keyPrefix)
      .filter((other) => other !== name)
      .map((other) => serviceCidrs.current("", other))
      .filter((other) => other !== undefined && other.metadata.deletionTimestamp === undefined)
      .flatMap((other) => rangesOf(other as KubeObject));
    return namesBelow(store, addresses.info.keyPrefix).some((text) => {
      const ip = parseIp(text);
      if (ip === undefined || !own.some((range) => inRange(range, ip))) return false;
      if (others.some((range) => inRange(range, ip))) return false;
      return addresses.current("", text)?.metadata.labels?.[addressManagedByLabel] === addressManager;
    });
  }

  async #tell(name: string, ready: string, reason: string, message: string): Promise<void> {
    const { serviceCidrs, clock } = this.#parts;
    const strategy = strategyOf(serviceCidr, "status");
    const condition = { type: "Ready", status: ready, reason, message };
    const tell = (old: KubeObject) => withCondition(old, condition, formatTime(clock.nowMs()));
    await serviceCidrs.update("", name, tell, serverContext, { strategy, subresource: "status", reapplies: true });
  }
}

function namesBelow(store: Store, prefix: Key): string[] {
  return store.scan(prefix).map(({ key }) => key.slice(prefix.length));
}

function rangesOf({ spec }: ServiceCIDR): IpRange[] {
  return (spec?.cidrs ?? []).map(ipRange).filter((range) => range !== undefined);
}

function hasFinalizer({ metadata }: KubeObject): boolean {
  return (metadata.finalizers ?? []).includes(finalizer);
}

function withFinalizer(cidr: KubeObject): KubeObject {
  if (hasFinalizer(cidr) || cidr.metadata.deletionTimestamp !== undefined) return cidr;
  return { ...cidr, metadata: { ...cidr.metadata, finalizers: [...(cidr.metadata.finalizers ?? []), finalizer] } };
}

function withoutFinalizer(cidr: KubeObject): KubeObject {
  const finalizers = (cidr.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return { ...cidr, metadata: { ...cidr.metadata, finalizers } };
}

/**
 * Returns the object with a condition, whose time is that of the last change of `status`. An unchanged condition is kept.
 */
function withCondition(cidr: ServiceCIDR, condition: ReadyCondition, now: string): ServiceCIDR {
  const { conditions = [], ...rest } = cidr.status ?? {};
  const old = conditions.find(({ type }) => type === condition.type);
  const next = {
    ...condition,
    lastTransitionTime: old?.status === condition.status ? (old.lastTransitionTime ?? now) : now,
  };
  if (old !== undefined && equalJson(old, next)) return cidr;
  const others = conditions.filter(({ type }) => type !== condition.type);
  return { ...cidr, status: { ...rest, conditions: [...others, next] } };
}

type ReadyCondition = Pick<Condition, "type" | "status" | "reason" | "message">;
