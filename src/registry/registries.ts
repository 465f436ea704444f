import { type Admission, type AdmissionPlugin, admissionChain } from "../admission/admission.ts";
import { namespaceLifecycle } from "../admission/namespace-lifecycle.ts";
import type { Clock } from "../api/clock.ts";
import type { CacherSet } from "../cacher/cacher-set.ts";
import { type ResourceInfo, storedInfo } from "../scheme/resource.ts";
import type { Scheme } from "../scheme/scheme.ts";
import type { Store } from "../storage/store.ts";
import type { RandomInt } from "./random-name.ts";
import { Registry } from "./registry.ts";
import { strategyOf } from "./strategies.ts";

export interface RegistriesParts {
  readonly scheme: Scheme;
  readonly store: Store;
  readonly cachers: CacherSet;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
  readonly newId: () => string;
}

/** One Registry per stored form, which all served versions of a kind share; all behind the same admission chain. */
export class Registries {
  readonly #byResource = new Map<ResourceInfo, Registry>();
  readonly #namespaces: Registry;
  /** The chain that every write goes through. */
  readonly admission: Admission;

  constructor(parts: RegistriesParts) {
    const admission = admissionChain(this.#plugins());
    this.admission = admission;
    const versions = Map.groupBy(parts.scheme.resources, storedInfo);
    for (const info of parts.scheme.stored) {
      const cacher = parts.cachers.cacher(info.keyPrefix);
      const served = versions.get(info) ?? [];
      this.#byResource.set(
        info,
        new Registry({ ...parts, info, versions: served, strategy: strategyOf(info), cacher, admission }),
      );
    }
    this.#namespaces = this.of(parts.scheme.find("", "v1", "namespaces"));
  }

  /** Asking for a resource that is not served is our mistake: the caller has found `info` in the scheme. */
  of(info: ResourceInfo | undefined): Registry {
    const registry = info === undefined ? undefined : this.#byResource.get(storedInfo(info));
    if (registry === undefined) throw new Error(`no registry for ${info?.resource ?? "a resource that is not served"}`);
    return registry;
  }

  all(): Iterable<Registry> {
    return this.#byResource.values();
  }

  /** Admission in its order: this list is the only place where it is decided. */
  #plugins(): readonly AdmissionPlugin[] {
    return [namespaceLifecycle({ get: (name) => this.#namespace(name) })];
  }

  #namespace(name: string): ReturnType<Parameters<typeof namespaceLifecycle>[0]["get"]> {
    const namespace = this.#namespaces.current("", name);
    if (namespace === undefined) return undefined;
    const status = namespace["status"] as { phase?: string } | undefined;
    return { metadata: namespace.metadata, phase: status?.phase ?? "" };
  }
}
