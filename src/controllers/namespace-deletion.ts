import type { Clock } from "../process/clock.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { namespaceFinalizer } from "../api/vendor.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import { namespace } from "../kinds/core/namespace.ts";
import { strategyOf } from "../registry/kind.ts";
import type { DeleteOptions } from "../registry/strategy.ts";
import type { Store } from "../storage/store.ts";
import type { Key } from "../api/entry.ts";
import { NamespaceContent, withContentConditions } from "./namespace-content.ts";
import { followObjects, type QueueSource, WorkQueue } from "./work-queue.ts";
import { plainDeletion } from "../registry/delete-options.ts";
import type { Namespace } from "../api/types/core-v1.ts";

/** Time after which objects with finalizers or a grace period are checked again. */
const retryMs = 1_000;

const deleteOptions: DeleteOptions = { ...plainDeletion, propagationPolicy: "Background" };

export interface NamespaceDeletionParts extends QueueSource {
  readonly registries: Registries;
  readonly namespaces: Registry;
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves when creations that any server admitted before have ended. */
  readonly settle: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Empties namespaces that are being deleted and then removes them: pods first, then everything else, then the
 * finalizer. Their conditions name the remaining contents.
 */
export function startNamespaceDeletion(parts: NamespaceDeletionParts): Disposable {
  const { store, clock, observeQueue, namespaces, onError } = parts;
  const running = new DisposableStack();
  const settling = new Settling(parts);
  const work = (key: Key) => finish(parts, queue, settling, key);
  const queue: WorkQueue = running.use(new WorkQueue({ name: "namespace", clock, observeQueue, onError, work }));
  running.use(
    followObjects(store, namespaces.info.keyPrefix, (key, type) => {
      if (type === "DELETED") settling.forget(key);
      else queue.add(key);
    }),
  );
  return running;
}

/**
 * Waits for creations that were admitted before a deletion was visible, on any server; later ones are rejected.
 * Namespaces are waited for in parallel, so that none delays the others.
 */
class Settling {
  /** States of the namespaces that are being deleted. */
  readonly #known = new Map<Key, { isOver: boolean }>();
  readonly #parts: NamespaceDeletionParts;

  constructor(parts: NamespaceDeletionParts) {
    this.#parts = parts;
  }

  /** Reports whether the wait is over. If not, the key is added to the queue when it is. */
  isOver(key: Key, queue: WorkQueue): boolean {
    const known = this.#known.get(key);
    if (known !== undefined) return known.isOver;
    const state = { isOver: false };
    this.#known.set(key, state);
    this.#parts.settle().then(
      () => {
        state.isOver = true;
        queue.add(key);
      },
      () => {
        this.#known.delete(key);
        queue.addAfter(key, retryMs);
      },
    );
    return false;
  }

  forget(key: Key): void {
    this.#known.delete(key);
  }
}

async function finish(parts: NamespaceDeletionParts, queue: WorkQueue, settling: Settling, key: Key): Promise<void> {
  const { namespaces } = parts;
  const name = key.slice(namespaces.info.keyPrefix.length);
  const namespace = namespaces.current("", name);
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  if (!specFinalizers(namespace).includes(namespaceFinalizer)) return;
  if (!settling.isOver(key, queue)) return;
  const content = await empty(parts, name);
  if (content.isEmpty) return release(parts, name);
  await report(parts, name, content);
  queue.addAfter(key, retryMs);
}

/** Deletes the contents. Pods may use other objects of the namespace, so those come after the pods. */
async function empty({ registries }: NamespaceDeletionParts, namespace: string): Promise<NamespaceContent> {
  const content = new NamespaceContent();
  const namespaced = [...registries.all()].filter(({ info }) => info.namespaced);
  const isPod = ({ info }: Registry) => info.group === "" && info.resource === "pods";
  for (const stage of [namespaced.filter(isPod), namespaced.filter((registry) => !isPod(registry))]) {
    for (const registry of stage) await emptyOf(registry, namespace, content);
    if (!content.isEmpty) return content;
  }
  return content;
}

async function emptyOf(registry: Registry, namespace: string, content: NamespaceContent): Promise<void> {
  const prefix = `${registry.info.keyPrefix}${namespace}/`;
  const page = await registry.cacher.list({ prefix });
  for (const { key } of page.entries) {
    const name = key.slice(prefix.length);
    if (await remove(registry, namespace, name)) continue;
    const object = registry.current(namespace, name);
    if (object !== undefined) content.add(registry.info, object);
  }
}

async function remove(registry: Registry, namespace: string, name: string): Promise<boolean> {
  try {
    const { removed } = await registry.delete(namespace, name, deleteOptions, controllerManagerContext);
    return removed;
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return true;
    throw error;
  }
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

function specFinalizers({ spec }: Namespace): readonly string[] {
  return spec?.finalizers ?? [];
}
