import type { ConfigMap } from "../api/types/core-v1.ts";
import type { Client, ResourceType } from "../client/client.ts";
import { Informer } from "../client/informer.ts";
import type { Clock } from "../process/clock.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const configMaps: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };
/** The field manager that clients know: the upstream component for this task. */
const fieldManager = "kube-apiserver";

export interface PublishedConfigMapParts extends QueueSource {
  readonly namespace: string;
  readonly name: string;
  readonly queueName: string;
  /** Returns the required keys, given the present data. Other keys keep their values. */
  readonly data: (current: ConfigMap | undefined) => Readonly<Record<string, string>>;
  /** The interval of checks for data that changes without notice; absent for none. */
  readonly refreshMs?: number;
  /** Calls `run` when the data may have changed. */
  readonly follow?: (run: () => void) => Disposable;
  readonly client: Client;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Maintains a ConfigMap in which the server publishes data about itself. */
export function startPublishedConfigMap(parts: PublishedConfigMapParts): Disposable {
  const { client, namespace, name, queueName, clock, observeQueue, onError, refreshMs, follow } = parts;
  const running = new DisposableStack();
  const publishNow = async () => {
    // Nothing is written until it is known whether the ConfigMap exists.
    if (published.isSynced) await publish(parts, published.get(name, namespace));
  };
  const queue = running.use(new WorkQueue({ name: queueName, clock, observeQueue, onError, work: publishNow }));
  const look = () => queue.add(name);
  const published = running.use(
    new Informer({
      client,
      type: configMaps,
      selector: { namespace, fieldSelector: `metadata.name=${name}` },
      clock,
      random: Math.random,
      onError,
      updated: look,
      deleted: look,
    }),
  );
  void published.synced.then(look);
  if (follow !== undefined) running.use(follow(look));
  if (refreshMs !== undefined) running.use(clock.every(refreshMs, look));
  return running;
}

async function publish(
  { client, namespace, name, data }: PublishedConfigMapParts,
  current: ConfigMap | undefined,
): Promise<void> {
  const wanted = { ...data(current) };
  if (current === undefined) {
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata: { name, namespace }, data: wanted };
    await client.create(configMaps, object, { fieldManager });
    return;
  }
  const isSaid = Object.entries(wanted).every(([key, text]) => current.data?.[key] === text);
  if (isSaid) return;
  await client.patch(configMaps, { name, namespace }, { kind: "merge", document: { data: wanted } }, { fieldManager });
}
