import type { Clock } from "../api/clock.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Registry } from "../registry/registry.ts";
import { apiServerContext } from "../registry/server-context.ts";
import type { Store } from "../storage/store.ts";
import { followObjects, WorkQueue } from "./work-queue.ts";

export interface PublishedConfigMapParts {
  readonly configMaps: Registry;
  readonly namespace: string;
  readonly name: string;
  /** Returns its data. Other keys stay unchanged. */
  readonly data: () => Readonly<Record<string, string>>;
  /** Interval at which `data` is called again, if it changes without notice; absent for never. */
  readonly refreshMs?: number;
  /** Calls `run` when the data may have changed. */
  readonly follow?: (run: () => void) => Disposable;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Maintains one ConfigMap in which the server publishes data about itself. */
export function startPublishedConfigMap(parts: PublishedConfigMapParts): Disposable {
  const { configMaps, namespace, name, store, clock, onError } = parts;
  const key = configMaps.keyOf(namespace, name);
  const running = new DisposableStack();
  const queue = running.use(new WorkQueue({ clock, onError, work: () => publish(parts) }));
  running.use(followObjects(store, key, (changed) => changed === key && queue.add(key)));
  const { refreshMs, follow } = parts;
  if (follow !== undefined) running.use(follow(() => queue.add(key)));
  if (refreshMs !== undefined) running.use(clock.every(refreshMs, () => queue.add(key)));
  queue.add(key);
  return running;
}

async function publish({ configMaps, namespace, name, data }: PublishedConfigMapParts): Promise<void> {
  const wanted = data();
  const current = configMaps.current(namespace, name);
  if (current === undefined) {
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace }, data: { ...wanted } };
    await configMaps.create(object, namespace, apiServerContext);
    return;
  }
  const change = (old: KubeObject): KubeObject => ({
    ...old,
    data: { ...(old["data"] as JsonObject | undefined), ...wanted },
  });
  await configMaps.update(namespace, name, change, apiServerContext, { reapplies: true });
}
