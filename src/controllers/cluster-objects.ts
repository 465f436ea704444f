import type { QuotaAccountant } from "../admission/resource-quota/accountant.ts";
import { resourceQuotas } from "../admission/resource-quota/quota.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { ServiceAllocation } from "../kinds/service-allocation/service-allocation.ts";
import type { Clock } from "../process/clock.ts";
import type { Catalog } from "../registry/catalog.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store } from "../storage/store.ts";
import { AttributesClassProtection } from "./attributes-class-protection.ts";
import { ClaimProtection } from "./claim-protection.ts";
import type { ControllerName } from "./controller-names.ts";
import { EphemeralVolumes, type EphemeralVolumesObserver } from "./ephemeral-volumes.ts";
import { FlowSchemaConditions } from "./flow-schema-conditions.ts";
import type { SyncObserver } from "./namespace-objects.ts";
import { QuotaUsage } from "./quota-usage.ts";
import { rootCaPublisher } from "./root-ca-publisher.ts";
import type { ServerRecords } from "./server-records.ts";
import { defaultServiceAccounts } from "./service-accounts.ts";
import { ServiceAllocationRepair } from "./service-allocation-repair.ts";
import { ServiceCidrs } from "./service-cidrs.ts";
import type { TrustBundle } from "./trust-bundle.ts";
import { startVolumeProtection } from "./volume-protection.ts";
import type { QueueSource } from "./work-queue.ts";

export interface ClusterObjectsParts extends QueueSource {
  readonly registries: Registries;
  readonly catalog: Catalog;
  readonly quotas: QuotaAccountant;
  /** Undefined if Services get no addresses. */
  readonly serviceAllocation: ServiceAllocation | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly servers: Pick<ServerRecords, "inherited">;
  readonly ca: TrustBundle;
  /** The optional controllers to run. */
  readonly controllers: ReadonlySet<ControllerName>;
  readonly rootCaObserver?: SyncObserver | undefined;
  readonly ephemeralVolumesObserver?: EphemeralVolumesObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/** Starts the controllers of the objects that every cluster has. */
export function startClusterObjects(parts: ClusterObjectsParts): Disposable {
  const { registries, ca, controllers } = parts;
  const registry = (resource: GroupResource) => registryOf(registries, resource);
  const namespaces = registry({ group: "", resource: "namespaces" });
  const running = new DisposableStack();
  if (controllers.has("serviceaccount-controller")) {
    const objects = registry({ group: "", resource: "serviceaccounts" });
    running.use(defaultServiceAccounts({ ...parts, namespaces, objects }).start());
  }
  if (controllers.has("root-ca-certificate-publisher-controller")) {
    const objects = registry({ group: "", resource: "configmaps" });
    const observer = parts.rootCaObserver;
    running.use(rootCaPublisher({ ...parts, namespaces, objects, observer }, ca).start());
  }
  const claims = registry({ group: "", resource: "persistentvolumeclaims" });
  const volumes = registry({ group: "", resource: "persistentvolumes" });
  const pods = registry({ group: "", resource: "pods" });
  if (controllers.has("persistentvolumeclaim-protection-controller")) {
    running.use(new ClaimProtection({ ...parts, claims, pods }).start());
  }
  if (controllers.has("persistentvolume-protection-controller")) {
    running.use(startVolumeProtection({ ...parts, volumes }));
  }
  if (controllers.has("ephemeral-volume-controller")) {
    const events = registry({ group: "", resource: "events" });
    const observer = parts.ephemeralVolumesObserver;
    running.use(new EphemeralVolumes({ ...parts, pods, claims, events, observer }).start());
  }
  const classes = registry({ group: "storage.k8s.io", resource: "volumeattributesclasses" });
  if (controllers.has("volumeattributesclass-protection-controller")) {
    running.use(new AttributesClassProtection({ ...parts, classes, claims, volumes }).start());
  }
  const flowControl = "flowcontrol.apiserver.k8s.io";
  const levels = registries.find({ group: flowControl, resource: "prioritylevelconfigurations" });
  const schemas = registries.find({ group: flowControl, resource: "flowschemas" });
  if (levels !== undefined && schemas !== undefined) {
    running.use(new FlowSchemaConditions({ ...parts, levels, schemas }).start());
  }
  if (controllers.has("resourcequota-controller")) {
    running.use(new QuotaUsage(parts, registry(resourceQuotas)).start());
  }
  const { serviceAllocation } = parts;
  if (serviceAllocation === undefined) return running;
  const addresses = registry({ group: "networking.k8s.io", resource: "ipaddresses" });
  const serviceCidrs = registry({ group: "networking.k8s.io", resource: "servicecidrs" });
  running.use(new ServiceCidrs({ ...parts, serviceCidrs, addresses }).start());
  running.use(new ServiceAllocationRepair({ ...parts, repair: serviceAllocation.repair(), addresses }).start());
  return running;
}

function registryOf(registries: Registries, resource: GroupResource): Registry {
  const registry = registries.find(resource);
  if (registry === undefined) throw new Error(`no registry for ${resource.resource}`);
  return registry;
}
