import type { GroupResource } from "../../api/gvk.ts";
import { addQuantities, type Quantity } from "../../api/quantity.ts";
import type { ResourceQuota } from "../../api/types/core-v1.ts";
import { isHugePages } from "../../api/validation/resource-name.ts";
import type { ObjectLookup, StoredObject } from "../../registry/object-lookup.ts";
import type { Amounts } from "../pod-resources.ts";
import { hardOf, noAmount } from "./quota.ts";
import { isInScope, type ScopeFacts, scopeFactsOf } from "./scopes.ts";
import { deviceClassSuffix, usageOf } from "./usage.ts";

interface Counted {
  readonly usage: Amounts;
  readonly facts: ScopeFacts;
}

/**
 * Counts the usage of a namespace's objects. It only keeps the counted amounts of an object, until the object changes.
 */
export class UsageCounter {
  readonly #lookup: ObjectLookup;
  readonly #countable: () => readonly GroupResource[];
  readonly #counted = new WeakMap<object, Counted>();

  constructor(lookup: ObjectLookup, countable: () => readonly GroupResource[]) {
    this.#lookup = lookup;
    this.#countable = countable;
  }

  /** @param charges amounts of requests whose objects are not stored yet */
  usedOf(quota: ResourceQuota, charges: Iterable<Amounts>, nowMs: number): Amounts {
    const used = new Map<string, Quantity>([...hardOf(quota).keys()].map((name) => [name, noAmount]));
    const namespace = quota.metadata.namespace ?? "";
    for (const resource of this.#resourcesOf([...used.keys()])) {
      for (const object of this.#lookup.scan(resource, namespace)) {
        const { usage, facts } = this.#count(resource, object, nowMs);
        if (isInScope(quota, facts)) add(used, usage);
      }
    }
    for (const charge of charges) add(used, charge);
    return used;
  }

  #count(resource: GroupResource, { identity, read }: StoredObject, nowMs: number): Counted {
    const known = this.#counted.get(identity);
    if (known !== undefined) return known;
    const object = read();
    const counted = { usage: usageOf(resource, object, nowMs), facts: scopeFactsOf(resource, object) };
    // A pod that is being deleted stops counting when its time is over.
    if (object.metadata.deletionTimestamp === undefined) this.#counted.set(identity, counted);
    return counted;
  }

  /** Returns the resources that match one of the limits. */
  #resourcesOf(limits: readonly string[]): readonly GroupResource[] {
    return this.#countable().filter(({ group, resource }) => {
      if (limits.includes(group === "" ? `count/${resource}` : `count/${resource}.${group}`)) return true;
      if (group === "resource.k8s.io" && resource === "resourceclaims") {
        return limits.some((name) => name.endsWith(deviceClassSuffix));
      }
      if (group !== "") return false;
      if (resource === "pods") return limits.some(isPodAmount);
      if (resource === "persistentvolumeclaims") return limits.some(isStorageAmount);
      if (resource === "services") return limits.some((name) => name === "services" || name.startsWith("services."));
      return limits.includes(resource);
    });
  }
}

/** Adds the amounts whose names are in `used`. */
function add(used: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const before = used.get(name);
    if (before !== undefined) used.set(name, addQuantities(before, amount));
  }
}

function isPodAmount(name: string): boolean {
  if (name === "pods" || name === "cpu" || name === "memory" || name === "ephemeral-storage") return true;
  if (isHugePages(name) || name.startsWith("limits.")) return true;
  return name.startsWith("requests.") && name !== "requests.storage";
}

function isStorageAmount(name: string): boolean {
  return (
    name === "persistentvolumeclaims" || name === "requests.storage" || name.includes(".storageclass.storage.k8s.io/")
  );
}
