import { maybeDeleting, storedMetadata } from "../api/codec/stored-metadata.ts";
import type { Entry, Key } from "../api/entry.ts";
import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Namespace } from "../api/types/core-v1.ts";
import { foregroundDeletionFinalizer, namespaceFinalizer, orphanFinalizer } from "../api/vendor.ts";
import { namespace } from "../kinds/core/namespace.ts";
import type { Clock } from "../process/clock.ts";
import { plainDeletion } from "../registry/delete-options.ts";
import { strategyOf } from "../registry/kind.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import type { DeleteOptions } from "../registry/strategy.ts";
import type { Store } from "../storage/store.ts";
import { type AggregatedResources, addUndiscovered, emptyAggregated } from "./aggregation/empty-aggregated.ts";
import { eachAtATime } from "./each-at-a-time.ts";
import { followObjects } from "./follow-objects.ts";
import { NamespaceContent, withContentConditions } from "./namespace-content.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

/** Number of namespaces emptied at a time, and of objects of one namespace deleted at a time. */
const workers = 10;
const deletionsAtATime = 16;
/** Time after which objects with finalizers or a grace period are checked again. */
const retryMs = 1_000;

const dependentsFinalizers = [orphanFinalizer, foregroundDeletionFinalizer];
const deleteOptions: DeleteOptions = { ...plainDeletion, propagationPolicy: "Background" };

export interface NamespaceDeletionParts extends QueueSource {
  readonly registries: Registries;
  readonly namespaces: Registry;
  readonly store: Store;
  readonly clock: Clock;
  /** The objects of extension servers, which are deleted too. */
  readonly aggregated?: AggregatedResources | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Empties namespaces that are being deleted and then removes them: pods first, then everything else, then the
 * finalizer. Their conditions name the remaining contents. Nothing is added meanwhile: a creation depends on the
 * namespace as it was when it was admitted, so the store refuses it after the deletion has begun.
 */
export function startNamespaceDeletion(parts: NamespaceDeletionParts): Disposable {
  const { store, clock, observeQueue, namespaces, onError } = parts;
  const running = new DisposableStack();
  const work = (key: Key) => finish(parts, queue, key);
  const queue: WorkQueue = running.use(
    new WorkQueue({ name: "namespace", clock, observeQueue, onError, workers, work }),
  );
  running.use(
    followObjects(store, namespaces.info.keyPrefix, (key, type) => {
      if (type !== "DELETED") queue.add(key);
    }),
  );
  return running;
}

async function finish(parts: NamespaceDeletionParts, queue: WorkQueue, key: Key): Promise<void> {
  const { namespaces } = parts;
  const name = key.slice(namespaces.info.keyPrefix.length);
  const namespace = namespaces.current("", name);
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  if (!specFinalizers(namespace).includes(namespaceFinalizer)) return;
  const content = await empty(parts, name);
  // Other finalizers may keep the namespace. Its conditions then report that it is empty.
  if (!content.isEmpty || isHeldByOthers(namespace)) await report(parts, name, content);
  if (content.isEmpty) await release(parts, name);
  else queue.addAfter(key, retryMs);
}

/** Deletes the contents. Pods come first, because they may use other objects of the namespace. */
async function empty(parts: NamespaceDeletionParts, namespace: string): Promise<NamespaceContent> {
  const { registries, store, aggregated } = parts;
  const content = new NamespaceContent();
  if (aggregated !== undefined) addUndiscovered(aggregated, content);
  const namespaced = [...registries.all()].filter(({ info }) => info.namespaced);
  const isPod = ({ info }: Registry) => info.group === "" && info.resource === "pods";
  for (const stage of [namespaced.filter(isPod), namespaced.filter((registry) => !isPod(registry))]) {
    for (const registry of stage) await emptyOf(registry, store, namespace, content);
    if (content.hasObjects) return content;
  }
  if (aggregated !== undefined) await emptyAggregated(aggregated, namespace, content);
  return content;
}

async function emptyOf(registry: Registry, store: Store, namespace: string, content: NamespaceContent): Promise<void> {
  const prefix = `${registry.info.keyPrefix}${namespace}/`;
  const { entries } = await registry.cacher.list({ prefix });
  let failure: string | undefined;
  if (entries.length === 0) return;
  await eachAtATime(entries, deletionsAtATime, async ({ key }) => {
    const failed = await remove(registry, store.get(key), namespace, key.slice(prefix.length));
    failure ??= failed;
  });
  if (failure !== undefined) content.addFailure(failure);
  const left = await registry.cacher.list({ prefix });
  for (const entry of left.entries) content.add(registry.info, storedMetadata(entry));
}

/** Deletes one object. @returns why it could not be deleted */
async function remove(
  registry: Registry,
  entry: Entry | undefined,
  namespace: string,
  name: string,
): Promise<string | undefined> {
  if (entry !== undefined && maybeDeleting(entry) && isFinal(storedMetadata(entry))) return undefined;
  try {
    await registry.delete(namespace, name, deleteOptions, controllerManagerContext);
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return error.code === 404 ? undefined : error.message;
  }
}

/** Reports whether another delete has no effect: the object waits for others, and not for its dependents. */
function isFinal({ deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] }: ObjectMeta): boolean {
  if (deletionTimestamp === undefined) return false;
  if (deletionGracePeriodSeconds > 0) return true;
  return finalizers.length > 0 && !finalizers.some((name) => dependentsFinalizers.includes(name));
}

async function release({ namespaces }: NamespaceDeletionParts, name: string): Promise<void> {
  const transform = (old: KubeObject): KubeObject => {
    const finalizers = specFinalizers(old).filter((finalizer) => finalizer !== namespaceFinalizer);
    return { ...old, spec: finalizers.length === 0 ? {} : { finalizers } };
  };
  const options = { strategy: strategyOf(namespace, "finalize"), subresource: "finalize", reapplies: true };
  await namespaces.update("", name, transform, controllerManagerContext, options);
}

async function report({ namespaces, clock }: NamespaceDeletionParts, name: string, content: NamespaceContent) {
  const strategy = strategyOf(namespace, "status");
  const transform = (old: KubeObject) => withContentConditions(old, content, clock.nowMs());
  await namespaces.update("", name, transform, controllerManagerContext, {
    strategy,
    subresource: "status",
    reapplies: true,
  });
}

/** Reports whether the namespace has other finalizers. */
function isHeldByOthers(held: Namespace): boolean {
  const { metadata, status } = held;
  if (specFinalizers(held).length > 1 || (metadata.finalizers ?? []).length > 0) return true;
  return (status?.conditions ?? []).some(({ status: value }) => value === "True");
}

function specFinalizers({ spec }: Namespace): readonly string[] {
  return spec?.finalizers ?? [];
}
