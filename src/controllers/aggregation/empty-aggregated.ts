import { apiVersionOf } from "../../api/gvk.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { shortened } from "../../api/shortened.ts";
import { StatusError } from "../../api/status.ts";
import type { DiscoveredVersions } from "../../client/aggregation/discovered-version.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import { listPages } from "../../client/list-pages.ts";
import { eachAtATime } from "../each-at-a-time.ts";
import type { NamespaceContent } from "../namespace-content.ts";

/** Number of objects of one namespace that are deleted at a time. */
const deletionsAtATime = 16;
/** Time limit of one request. A hanging extension server soon counts as unavailable, and gets no more requests. */
const timeoutMs = 30_000;

/** The resources of extension servers, and a client that may delete their objects. */
export interface AggregatedResources {
  readonly versions: DiscoveredVersions;
  readonly client: Pick<Client, "list" | "delete" | "deleteCollection">;
}

/** Adds the group versions whose resources, and therefore contents of the namespace, are unknown. */
export function addUndiscovered({ versions }: Pick<AggregatedResources, "versions">, content: NamespaceContent): void {
  for (const version of versions.versions()) {
    if (version.freshness !== "Current") content.addUndiscovered(apiVersionOf(version));
  }
}

/** Deletes the objects of extension servers in a namespace. */
export async function emptyAggregated(
  { versions, client }: AggregatedResources,
  namespace: string,
  content: NamespaceContent,
): Promise<void> {
  for (const resource of deletableResources(versions)) {
    try {
      await emptyResource(client, resource, namespace, content);
    } catch (error) {
      content.addFailure(shortened((error as Error).message));
    }
  }
}

interface DeletableResource {
  readonly type: ResourceType;
  readonly verbs: readonly string[];
}

/** Returns every namespaced resource that can be deleted, in one of its versions. */
function deletableResources(versions: DiscoveredVersions): Iterable<DeletableResource> {
  const found = new Map<string, DeletableResource>();
  for (const { group, version, freshness, resources } of versions.versions()) {
    if (freshness !== "Current") continue;
    for (const { resource, scope, verbs } of resources) {
      const key = `${resource}.${group}`;
      if (scope !== "Namespaced" || !verbs.includes("delete") || found.has(key)) continue;
      found.set(key, { type: { group, version, resource }, verbs });
    }
  }
  return found.values();
}

async function emptyResource(
  client: AggregatedResources["client"],
  { type, verbs }: DeletableResource,
  namespace: string,
  content: NamespaceContent,
): Promise<void> {
  const didDelete = verbs.includes("deletecollection") && (await deleteAll(client, type, namespace));
  if (!verbs.includes("list")) return;
  if (!didDelete) await deleteEach(client, type, namespace);
  for await (const object of objectsOf(client, type, namespace)) content.add(type, object.metadata);
}

/** @returns whether the server can delete a collection, whatever its discovery document says */
async function deleteAll(
  client: AggregatedResources["client"],
  type: ResourceType,
  namespace: string,
): Promise<boolean> {
  try {
    await client.deleteCollection(type, { namespace }, { propagationPolicy: "Background", timeoutMs });
    return true;
  } catch (error) {
    if (isUnsupported(error)) return false;
    throw error;
  }
}

async function deleteEach(client: AggregatedResources["client"], type: ResourceType, namespace: string): Promise<void> {
  let failure: unknown;
  await eachAtATime(objectsOf(client, type, namespace), deletionsAtATime, async ({ metadata }) => {
    // Another delete of an object that waits for its finalizers has no effect.
    if (metadata.deletionTimestamp !== undefined) return;
    const of = { namespace, name: metadata.name ?? "" };
    await client.delete(type, of, { propagationPolicy: "Background", timeoutMs }).catch((error: unknown) => {
      if (!isUnsupported(error)) failure ??= error;
    });
  });
  if (failure !== undefined) throw failure;
}

async function* objectsOf(
  client: AggregatedResources["client"],
  type: ResourceType,
  namespace: string,
): AsyncGenerator<KubeObject, void> {
  try {
    for await (const { items } of listPages(client, type, { namespace, timeoutMs })) yield* items;
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
}

/** Reports whether the resource lacks the verb, or the object no longer exists. */
function isUnsupported(error: unknown): boolean {
  return error instanceof StatusError && (error.code === 404 || error.code === 405);
}
