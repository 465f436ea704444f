import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { GroupResource } from "../../api/gvk.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Eventual } from "../../process/eventual.ts";
import { runSliced } from "../../process/sliced.ts";
import type { Registry } from "../../registry/registry.ts";

/** Number of compiled policies to keep. The least recently used is dropped first, and compiled again when needed. */
const compiledMax = 1_000;

/** Finds the registry from which current policies and bindings are read. */
export type RegistryFinder = (resource: GroupResource) => Registry | undefined;

/** A policy with its bindings, in order of their names. */
export interface PolicyHook<Policy, Binding> {
  readonly entry: Entry;
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

interface BoundPolicy extends KubeObject {
  spec?: { policyName?: string };
}

/**
 * The policies of one sort that have bindings. It reads the cache of their kind, which changes in the same turn in which
 * a replica applies a write: a policy is in force when its write is acknowledged.
 */
export class PolicySet<Policy extends KubeObject, Binding extends BoundPolicy> {
  readonly #registryOf: RegistryFinder;
  readonly #policies: GroupResource;
  readonly #bindings: GroupResource;
  #policyEntries: readonly Entry[] = [];
  #bindingEntries: readonly Entry[] = [];
  #hooks: readonly PolicyHook<Policy, Binding>[] = [];

  constructor(registryOf: RegistryFinder, policies: GroupResource, bindings: GroupResource) {
    this.#registryOf = registryOf;
    this.#policies = policies;
    this.#bindings = bindings;
  }

  /** Policies in order of their names. One without a binding applies to nothing. */
  hooks(): readonly PolicyHook<Policy, Binding>[] {
    const policies = entriesOf(this.#registryOf(this.#policies));
    const bindings = policies.length === 0 ? policies : entriesOf(this.#registryOf(this.#bindings));
    if (policies !== this.#policyEntries || bindings !== this.#bindingEntries) {
      this.#hooks = this.#join(policies, bindings);
      this.#policyEntries = policies;
      this.#bindingEntries = bindings;
    }
    return this.#hooks;
  }

  #join(policies: readonly Entry[], bindings: readonly Entry[]): PolicyHook<Policy, Binding>[] {
    const decoded = bindings.map((entry) => this.#decode<Binding>(this.#bindings, entry));
    const byPolicy = Map.groupBy(decoded, ({ spec }) => spec?.policyName ?? "");
    return policies.flatMap((entry) => {
      const policy = this.#decode<Policy>(this.#policies, entry);
      const bound = byPolicy.get(policy.metadata.name ?? "");
      return bound === undefined ? [] : [{ entry, policy, bindings: bound }];
    });
  }

  #decode<T extends KubeObject>(resource: GroupResource, entry: Entry): T {
    const registry = this.#registryOf(resource);
    if (registry === undefined) throw new Error(`no registry for ${resource.resource}`);
    return decodeEntry(entry, registry.info) as T;
  }
}

const noEntries: readonly Entry[] = [];

function entriesOf(registry: Registry | undefined): readonly Entry[] {
  if (registry === undefined || registry.cacher.size === 0) return noEntries;
  return registry.cacher.entries();
}

/** Policies that are compiled once, and again only after they have gone unused for long. */
export class CompiledEntries<Compiled> {
  readonly #byEntry = new Map<Entry, Eventual<Compiled>>();
  readonly #compiledMax: number;

  constructor(kept: number = compiledMax) {
    this.#compiledMax = kept;
  }

  /** Compiles over several turns if there is much to compile. Requests that come meanwhile wait for the same result. */
  get(entry: Entry, compile: () => Generator<void, Compiled>): Eventual<Compiled> {
    const known = this.#byEntry.get(entry);
    if (known !== undefined) {
      this.#byEntry.delete(entry);
      this.#byEntry.set(entry, known);
      return known;
    }
    const compiled = runSliced(compile());
    this.#byEntry.set(entry, compiled);
    if (compiled instanceof Promise)
      void compiled.then(
        (ready) => this.#finish(entry, ready),
        () => this.#byEntry.delete(entry),
      );
    if (this.#byEntry.size > this.#compiledMax) {
      const [oldest] = this.#byEntry.keys();
      if (oldest !== undefined) this.#byEntry.delete(oldest);
    }
    return compiled;
  }

  #finish(entry: Entry, compiled: Compiled): void {
    if (this.#byEntry.has(entry)) this.#byEntry.set(entry, compiled);
  }
}
