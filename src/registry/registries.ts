import { type Admission, type AdmissionPlugin, admissionChain } from "./admission.ts";
import { authorizeBy } from "../admission/authorization.ts";
import { chosenPlugins, type PluginName } from "../admission/plugin-names.ts";
import type { ObjectLookup } from "./object-lookup.ts";
import { makePlugins } from "../admission/plugins.ts";
import { QuotaAccountant } from "../admission/resource-quota/accountant.ts";
import { type QuotaServers, SharedCharges } from "../admission/resource-quota/shared-charges.ts";
import { resourceQuotas } from "../admission/resource-quota/quota.ts";
import type { Clock } from "../api/clock.ts";
import type { GroupResource } from "../api/gvk.ts";
import { cloneJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { alwaysDenyAuthorizer } from "../access/authorization/always-deny.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { CacherSet } from "../storage/cacher/cacher-set.ts";
import { type ResourceInfo, storedInfo } from "../api/scheme/resource.ts";
import type { Scheme } from "../api/scheme/scheme.ts";
import type { GatedFields } from "../api/schema/gated-fields.ts";
import type { Store } from "../storage/store.ts";
import { ServiceAllocation, type ServiceNetwork } from "../kinds/service-allocation/service-allocation.ts";
import type { Allocator } from "./allocator.ts";
import { CachedObjects } from "./cached-objects.ts";
import type { DeclarativeValidation } from "./declarative/declarative-validation.ts";
import { InFlight } from "./in-flight.ts";
import type { RandomInt } from "./random-name.ts";
import { Registry } from "./registry.ts";
import { serverContext } from "./server-context.ts";
import { ownedFieldsOf } from "../kinds/reset-fields.ts";
import { strategyOf, subresourceStrategyOf } from "../kinds/strategies.ts";

export interface RegistriesParts {
  readonly scheme: Scheme;
  readonly store: Store;
  readonly cachers: CacherSet;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
  /** Rules that types declare (gate DeclarativeValidation). */
  readonly declarative?: DeclarativeValidation | undefined;
  /** Fields behind feature gates that are off. */
  readonly gatedFields?: GatedFields | undefined;
  /** Without it Services get no addresses and ports. */
  readonly serviceNetwork?: ServiceNetwork | undefined;
  /** In their order; by default those that are on by default. */
  readonly admissionPlugins?: readonly PluginName[] | undefined;
  /** The servers that share the store; without it this one is alone. */
  readonly servers?: QuotaServers | undefined;
  /** Asked by plugins about what a request means besides itself; without it nobody may do any of that. */
  readonly authorizer?: Authorizer | undefined;
  /** Behind the plugins, whatever these are. */
  readonly admissionGuards?: readonly AdmissionPlugin[] | undefined;
}

/** One Registry per stored form, which all served versions of a kind share; all behind the same admission chain. */
export class Registries {
  readonly #byResource = new Map<ResourceInfo, Registry>();
  readonly #byGroupResource = new Map<string, Registry>();
  /** The chain that every write goes through. */
  readonly admission: Admission;
  /** Every creation that is on its way here. */
  readonly creations = new InFlight();
  /** Keeps what is used of quotas. */
  readonly quotas: QuotaAccountant;
  /** Undefined where Services get no addresses. */
  readonly serviceAllocation: ServiceAllocation | undefined;

  constructor(parts: RegistriesParts) {
    this.serviceAllocation = this.#serviceAllocation(parts);
    const lookup = new CachedObjects((resource) => this.find(resource));
    this.quotas = this.#quotasOf(lookup, parts);
    const admission = this.#admissionOf(lookup, parts);
    this.admission = admission;
    const versions = Map.groupBy(parts.scheme.resources, storedInfo);
    for (const info of parts.scheme.stored) {
      const cacher = parts.cachers.cacher(info.keyPrefix);
      const served = versions.get(info) ?? [];
      const strategy = strategyOf(info);
      const hasStatus = strategy.resetFields.includes("status");
      const ownedFields = (subresource: string) => ownedFieldsOf(info, subresource, hasStatus);
      const own = { strategy, allocator: this.#allocatorOf(info), ownedFields };
      const { creations } = this;
      const registry = new Registry({ ...parts, ...own, info, versions: served, cacher, admission, creations });
      this.#byResource.set(info, registry);
      this.#byGroupResource.set(resourceKey(info), registry);
    }
  }

  /** Asking for a resource that is not served is our mistake: the caller has found `info` in the scheme. */
  of(info: ResourceInfo | undefined): Registry {
    const registry = info === undefined ? undefined : this.#byResource.get(storedInfo(info));
    if (registry === undefined) throw new Error(`no registry for ${info?.resource ?? "a resource that is not served"}`);
    return registry;
  }

  /** The registry of a resource in whatever version it is stored; undefined when there is none. */
  /** Of a kind that the server itself works with; it is there whether it is served or not. */
  builtIn(resource: GroupResource): Registry {
    const registry = this.find(resource);
    if (registry === undefined) throw new Error(`no registry for ${resource.resource}`);
    return registry;
  }

  find(resource: GroupResource): Registry | undefined {
    return this.#byGroupResource.get(resourceKey(resource));
  }

  all(): Iterable<Registry> {
    return this.#byResource.values();
  }

  #serviceAllocation(parts: RegistriesParts): ServiceAllocation | undefined {
    const { serviceNetwork: network } = parts;
    if (network === undefined) return undefined;
    const registry = (resource: GroupResource) => {
      const found = this.find(resource);
      if (found === undefined) throw new Error(`no registry for ${resource.resource}, which Services need`);
      return found;
    };
    return new ServiceAllocation({ ...parts, network, registry });
  }

  #allocatorOf({ group, resource }: ResourceInfo): Allocator | undefined {
    return group === "" && resource === "services" ? this.serviceAllocation?.allocator : undefined;
  }

  #quotasOf(lookup: ObjectLookup, { clock, servers, store }: RegistriesParts): QuotaAccountant {
    return new QuotaAccountant({
      lookup,
      clock,
      shared: servers === undefined ? undefined : new SharedCharges({ servers, store }),
      countable: () => [...this.all()].map(({ info }) => info).filter(({ namespaced }) => namespaced),
      writeStatus: async (quota) => {
        const registry = this.find(resourceQuotas);
        const strategy = subresourceStrategyOf(resourceQuotas, "status");
        if (registry === undefined || strategy === undefined) throw new Error("resource quotas are not served");
        const { namespace = "", name = "" } = quota.metadata;
        const options = { strategy, subresource: "status" };
        await registry.update(namespace, name, () => cloneObject(quota), serverContext, options);
      },
    });
  }

  #admissionOf(lookup: ObjectLookup, parts: RegistriesParts): Admission {
    const { admissionPlugins = chosenPlugins([], []), admissionGuards = [], clock, randomInt } = parts;
    const plugins = makePlugins(admissionPlugins, {
      lookup,
      clock,
      quotas: this.quotas,
      randomInt,
      authorize: authorizeBy(parts.authorizer ?? alwaysDenyAuthorizer),
      resourceOfKind: (gvk) => parts.scheme.findKind(gvk),
      wait: (delayMs) => new Promise<void>((resolve) => void clock.after(delayMs, resolve)),
      catchUp: async () => void (await parts.store.readBarrier()),
    });
    return admissionChain([...plugins, ...admissionGuards]);
  }
}

function cloneObject(object: KubeObject): KubeObject {
  return cloneJson(object as unknown as JsonObject) as unknown as KubeObject;
}

function resourceKey({ group, resource }: GroupResource): string {
  return `${group}/${resource}`;
}
