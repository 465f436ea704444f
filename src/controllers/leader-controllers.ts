import type { ResourceType } from "../client/client.ts";
import { storageVersion } from "../kinds/apiserverinternal/storage-version.ts";
import { strategyOf } from "../registry/kind.ts";
import { type AvailabilityParts, startAvailabilityController } from "./aggregation/availability-controller.ts";
import { startCustomApiServices } from "./aggregation/custom-api-services.ts";
import { clusterRoles, startClusterRoleAggregation } from "./cluster-role-aggregation.ts";
import { startCustomResources } from "./custom-resources/custom-resources.ts";
import { DefaultFlowControl } from "./default-flow-control.ts";
import { type IdentityControllersParts, startIdentityControllers } from "./identity-controllers.ts";
import { startIdentityLeaseCleaner } from "./identity-lease-cleaner.ts";
import { type ObjectControllersParts, startObjectControllers } from "./object-controllers.ts";
import { startPolicyTypeChecking, validatingPolicies } from "./policy-type-checking.ts";
import type { ServerRecords } from "./server-records.ts";
import { startStorageVersionCleaner, storageVersions } from "./storage-version-cleaner.ts";

export interface LeaderControllersParts
  extends Omit<ObjectControllersParts, "client" | "servers">,
    IdentityControllersParts,
    AvailabilityParts {
  readonly servers: ServerRecords;
  /** Reports whether clients can use a type. */
  readonly serves: (type: ResourceType) => boolean;
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
  // Two releases would undo each other's objects.
  running.use(new DefaultFlowControl(registries).start(parts.clock, parts.onError));
  running.use(startIdentityControllers(parts));
  running.use(startObjectControllers(parts));
  running.use(startCustomResources(parts));
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
