import { alwaysDenyAuthorizer } from "../access/authorization/always-deny.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import { authorizeBy } from "../admission/authorization.ts";
import { chosenPlugins, type PluginName } from "../admission/plugin-names.ts";
import { makePlugins, type PluginParts } from "../admission/plugins.ts";
import { paramPermission } from "../admission/policies/param-permission.ts";
import type { PolicyObserver } from "../admission/policies/policy-observer.ts";
import { QuotaAccountant } from "../admission/resource-quota/accountant.ts";
import { type QuotaServers, SharedCharges } from "../admission/resource-quota/shared-charges.ts";
import { terminatingKind } from "../admission/terminating-kind.ts";
import type { GroupResource } from "../api/gvk.ts";
import { cloneJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { resourceQuota } from "../kinds/core/resource-quota.ts";
import { ownedFieldsOf } from "../kinds/reset-fields.ts";
import { adminAccessRule } from "../kinds/resource/admin-access.ts";
import { statusPermissionRule } from "../kinds/resource/status-permission.ts";
import { ServiceAllocation, type ServiceNetwork } from "../kinds/service-allocation/service-allocation.ts";
import { type Admission, type AdmissionPlugin, admissionChain } from "../registry/admission.ts";
import type { AdmissionObserver } from "../registry/admission-observer.ts";
import { CachedObjects } from "../registry/cached-objects.ts";
import { strategyOf } from "../registry/kind.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { Registries, type RegistriesParts } from "../registry/registries.ts";
import { serverContext } from "../registry/server-context.ts";
import { everyRule, type WriteRule } from "../registry/write-rule.ts";

export interface ServerRegistriesParts
  extends Omit<RegistriesParts, "admission" | "allocatorOf" | "writeRuleOf" | "ownedFieldsOf"> {
  /** Allocators for Services. If absent, Services get no addresses and ports. */
  readonly serviceNetwork?: ServiceNetwork | undefined;
  /** Whether the store is on etcd, where kube-apiservers allocate too. */
  readonly isOnEtcd?: boolean;
  /** The enabled plugins in order; upstream's defaults if absent. */
  readonly admissionPlugins?: readonly PluginName[] | undefined;
  /** The servers that share the store. If absent, this is the only one. */
  readonly servers?: QuotaServers | undefined;
  /** Answers plugins whether the user may do what a request implies. If absent, nobody may. */
  readonly authorizer?: Authorizer | undefined;
  /** Reports whether a feature gate is on. If absent, all are. */
  readonly isGateOn?: ((gate: string) => boolean) | undefined;
  /** Calls webhooks. If absent, none is called. */
  readonly webhooks?: PluginParts["webhooks"];
  /** Observes the durations of plugins. */
  readonly admissionObserver?: AdmissionObserver | undefined;
  readonly policyObserver?: PolicyObserver | undefined;
  /** Checks that follow all plugins. */
  readonly admissionGuards?: readonly AdmissionPlugin[] | undefined;
}

/** The registries, and the parts that complete and check their writes. */
export interface ServerRegistries {
  readonly registries: Registries;
  readonly admission: Admission;
  /** Keeps the used amounts of quotas. */
  readonly quotas: QuotaAccountant;
  /** Undefined if Services get no addresses. */
  readonly serviceAllocation: ServiceAllocation | undefined;
}

/** Builds the registries, the admission chain, the quotas and the Service addresses, which need each other. */
export function openRegistries(parts: ServerRegistriesParts): ServerRegistries {
  const { serviceNetwork: network } = parts;
  const found = () => registries;
  const lookup = new CachedObjects((resource) => registries.find(resource));
  const quotas = quotasOf(parts, lookup, found);
  const admission = admissionOf(parts, lookup, quotas, found);
  const serviceAllocation =
    network === undefined
      ? undefined
      : new ServiceAllocation({ ...parts, network, registry: (resource) => registries.builtIn(resource) });
  const registries: Registries = new Registries({
    ...parts,
    admission,
    ownedFieldsOf,
    allocatorOf: ({ group, resource }) =>
      group === "" && resource === "services" ? serviceAllocation?.allocator : undefined,
    writeRuleOf: (resource) => everyRule([adminAccessRule(resource, lookup), claimStatusRule(resource, parts)]),
  });
  return { registries, admission, quotas, serviceAllocation };
}

function claimStatusRule(resource: GroupResource, parts: ServerRegistriesParts): WriteRule | undefined {
  const { authorizer = alwaysDenyAuthorizer, isGateOn = () => true } = parts;
  if (!isGateOn("DRAResourceClaimGranularStatusAuthorization")) return undefined;
  return statusPermissionRule(resource, { authorizer, hasDeviceStatus: isGateOn("DRAResourceClaimDeviceStatus") });
}

function quotasOf(
  { clock, servers, store }: ServerRegistriesParts,
  lookup: ObjectLookup,
  registries: () => Registries,
): QuotaAccountant {
  return new QuotaAccountant({
    lookup,
    clock,
    shared: servers === undefined ? undefined : new SharedCharges({ servers, store }),
    countable: () => [...registries().all()].map(({ info }) => info).filter(({ namespaced }) => namespaced),
    writeStatus: async (quota) => {
      const { namespace = "", name = "" } = quota.metadata;
      const options = { strategy: strategyOf(resourceQuota, "status"), subresource: "status" };
      const registry = registries().builtIn(resourceQuota);
      await registry.update(namespace, name, () => cloneObject(quota), serverContext, options);
    },
  });
}

function admissionOf(
  parts: ServerRegistriesParts,
  lookup: ObjectLookup,
  quotas: QuotaAccountant,
  registries: () => Registries,
): Admission {
  const { catalog, admissionPlugins = chosenPlugins([], []), admissionGuards = [], clock, randomInt } = parts;
  const pluginParts: PluginParts = {
    lookup,
    clock,
    quotas,
    randomInt,
    catalog,
    webhooks: parts.webhooks,
    policyObserver: parts.policyObserver,
    registryOf: (resource) => registries().find(resource),
    authorizer: parts.authorizer ?? alwaysDenyAuthorizer,
    authorize: authorizeBy(parts.authorizer ?? alwaysDenyAuthorizer),
    resourceOfKind: (gvk) => catalog.findKind(gvk),
    wait: (delayMs) => new Promise<void>((resolve) => void clock.after(delayMs, resolve)),
    catchUp: async () => void (await parts.store.readBarrier()),
  };
  const plugins = makePlugins(admissionPlugins, pluginParts);
  const all = [terminatingKind(pluginParts), ...plugins, paramPermission(pluginParts), ...admissionGuards];
  return admissionChain(all, parts.admissionObserver);
}

function cloneObject(object: KubeObject): KubeObject {
  return cloneJson(object as unknown as JsonObject) as unknown as KubeObject;
}
