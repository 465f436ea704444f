import type { DiscoveredVersions } from "../client/aggregation/discovered-version.ts";
import type { Client } from "../client/client.ts";
import { type ClusterObjectsParts, startClusterObjects } from "./cluster-objects.ts";
import type { PodScalesParts } from "./disruption/pod-scales.ts";
import { startDisruption } from "./disruption/start-disruption.ts";
import { type EndpointControllersParts, startEndpointControllers } from "./endpoints/endpoint-controllers.ts";
import { startGarbageCollector } from "./garbage-collection/garbage-collector.ts";
import { startNamespaceDeletion } from "./namespace-deletion.ts";
import { type NodeControllersParts, startNodeControllers } from "./nodes/node-controllers.ts";
import { type StartResourceClaimsParts, startResourceClaims } from "./resource-claims/start-resource-claims.ts";
import { startTtlAfterFinished } from "./ttl-after-finished.ts";

export interface ObjectControllersParts
  extends ClusterObjectsParts,
    EndpointControllersParts,
    NodeControllersParts,
    PodScalesParts,
    StartResourceClaimsParts {
  /** The resources of extension servers, and clients for them by the name of the controller that they act for. */
  readonly aggregated?: { readonly versions: DiscoveredVersions; clientOf(controller: string): Client } | undefined;
  /** Called if the garbage collector could not read the objects of a kind. */
  readonly syncFailed?: (() => void) | undefined;
  /** Gets the time from when each finished Job was due until it was deleted. */
  readonly jobDeleted?: ((seconds: number) => void) | undefined;
}

/**
 * Starts the leader's controllers whose work follows from stored objects and the time. They need no keys and make no
 * requests except for objects of extension servers, so a simulation can run them all.
 */
export function startObjectControllers(parts: ObjectControllersParts): Disposable {
  const { registries, controllers } = parts;
  const running = new DisposableStack();
  const namespaces = registries.builtIn({ group: "", resource: "namespaces" });
  const aggregated = aggregatedFor(parts, "namespace-controller", running);
  running.use(startNamespaceDeletion({ ...parts, namespaces, aggregated }));
  running.use(startClusterObjects(parts));
  running.use(startEndpointControllers(parts));
  if (controllers.has("disruption-controller")) running.use(startDisruption(parts));
  if (controllers.has("resourceclaim-controller")) running.use(startResourceClaims(parts));
  running.use(startNodeControllers(parts));
  if (controllers.has("ttl-after-finished-controller")) {
    const jobs = registries.builtIn({ group: "batch", resource: "jobs" });
    running.use(startTtlAfterFinished({ ...parts, jobs, deleted: parts.jobDeleted }));
  }
  if (controllers.has("garbage-collector-controller")) {
    const aggregated = aggregatedFor(parts, "generic-garbage-collector", running);
    running.use(startGarbageCollector({ ...parts, aggregated }));
  }
  return running;
}

function aggregatedFor({ aggregated }: ObjectControllersParts, controller: string, running: DisposableStack) {
  if (aggregated === undefined) return undefined;
  return { versions: aggregated.versions, client: running.use(aggregated.clientOf(controller)) };
}
