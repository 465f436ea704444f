import type { DiscoveredVersions } from "../client/aggregation/discovered-version.ts";
import type { Client, ResourceType } from "../client/client.ts";
import { storageVersion } from "../kinds/apiserverinternal/storage-version.ts";
import { strategyOf } from "../registry/kind.ts";
import { type AvailabilityParts, startAvailabilityController } from "./aggregation/availability-controller.ts";
import { startCustomApiServices } from "./aggregation/custom-api-services.ts";
import { type ClusterObjectsParts, startClusterObjects } from "./cluster-objects.ts";
import { clusterRoles, startClusterRoleAggregation } from "./cluster-role-aggregation.ts";
import { startCustomResources } from "./custom-resources/custom-resources.ts";
import { DefaultFlowControl } from "./default-flow-control.ts";
import { startDisruption } from "./disruption/start-disruption.ts";
import { type EndpointControllersParts, startEndpointControllers } from "./endpoints/endpoint-controllers.ts";
import { startGarbageCollector } from "./garbage-collection/garbage-collector.ts";
import { type IdentityControllersParts, startIdentityControllers } from "./identity-controllers.ts";
import { startIdentityLeaseCleaner } from "./identity-lease-cleaner.ts";
import { startNamespaceDeletion } from "./namespace-deletion.ts";
import { type NodeControllersParts, startNodeControllers } from "./nodes/node-controllers.ts";
import { startPolicyTypeChecking, validatingPolicies } from "./policy-type-checking.ts";
import { startResourceClaims } from "./resource-claims/start-resource-claims.ts";
import { startStorageVersionCleaner, storageVersions } from "./storage-version-cleaner.ts";
import { startTtlAfterFinished } from "./ttl-after-finished.ts";

export interface LeaderControllersParts
  extends ClusterObjectsParts,
    IdentityControllersParts,
    NodeControllersParts,
    EndpointControllersParts,
    AvailabilityParts {
  /** Reports whether clients can use a type. */
  readonly serves: (type: ResourceType) => boolean;
  /** The resources of extension servers, and clients for them by the name of the controller that they act for. */
  readonly aggregated: { readonly versions: DiscoveredVersions; clientOf(controller: string): Client };
  /** Called if the garbage collector could not read the objects of a kind. */
  readonly syncFailed?: (() => void) | undefined;
  /** Gets the time from when each finished Job was due until it was deleted. */
  readonly jobDeleted?: ((seconds: number) => void) | undefined;
}

/**
 * Starts the controllers that only the leader runs. Two instances would do everything twice, and with different knowledge
 * they would undo each other's changes forever.
 */
export function startLeaderControllers(parts: LeaderControllersParts): Disposable {
  const { registries } = parts;
  const running = new DisposableStack();
  if (parts.controllers.has("clusterrole-aggregation-controller") && parts.serves(clusterRoles)) {
    running.use(startClusterRoleAggregation(parts));
  }
  if (parts.controllers.has("validatingadmissionpolicy-status-controller") && parts.serves(validatingPolicies)) {
    running.use(startPolicyTypeChecking({ ...parts, served: parts.catalog }));
  }
  const namespaces = registries.builtIn({ group: "", resource: "namespaces" });
  const { versions, clientOf } = parts.aggregated;
  const aggregated = { versions, client: running.use(clientOf("namespace-controller")) };
  running.use(startNamespaceDeletion({ ...parts, namespaces, aggregated, settle: () => parts.servers.settle() }));
  // Two releases would undo each other's objects.
  running.use(new DefaultFlowControl(registries).start(parts.clock, parts.onError));
  running.use(startIdentityControllers(parts));
  running.use(startClusterObjects(parts));
  running.use(startEndpointControllers(parts));
  if (parts.controllers.has("disruption-controller")) running.use(startDisruption(parts));
  if (parts.controllers.has("resourceclaim-controller")) running.use(startResourceClaims(parts));
  running.use(startNodeControllers(parts));
  if (parts.controllers.has("ttl-after-finished-controller")) {
    const jobs = registries.builtIn({ group: "batch", resource: "jobs" });
    running.use(startTtlAfterFinished({ ...parts, jobs, deleted: parts.jobDeleted }));
  }
  if (parts.controllers.has("garbage-collector-controller")) {
    const client = running.use(clientOf("generic-garbage-collector"));
    running.use(startGarbageCollector({ ...parts, aggregated: { versions, client } }));
  }
  running.use(startCustomResources({ ...parts, settle: () => parts.servers.settle() }));
  running.use(startCustomApiServices(parts));
  running.use(startAvailabilityController(parts));
  const leases = registries.builtIn({ group: "coordination.k8s.io", resource: "leases" });
  running.use(startIdentityLeaseCleaner({ ...parts, leases }));
  // The kind is behind a feature gate.
  if (parts.controllers.has("storageversion-garbage-collector-controller") && parts.serves(storageVersions)) {
    const [versions, versionStatus] = [registries.builtIn(storageVersions), strategyOf(storageVersion, "status")];
    running.use(startStorageVersionCleaner({ ...parts, versions, versionStatus, leases }));
  }
  return running;
}
