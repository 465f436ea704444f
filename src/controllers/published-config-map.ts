import type { ConfigMap } from "../api/types/core-v1.ts";
import type { Client, ResourceType } from "../client/client.ts";
import { Informer } from "../client/informer.ts";
import type { Clock } from "../process/clock.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const configMaps: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };
/** Clients know the fields under the name of the component that Kubernetes has for this. */
const fieldManager = "kube-apiserver";

export interface PublishedConfigMapParts extends QueueSource {
  readonly namespace: string;
  readonly name: string;
  readonly queueName: string;
  /** Returns the keys that it has to have, given its present state. Other keys stay as they are. */
  readonly data: (current: ConfigMap | undefined) => Readonly<Record<string, string>>;
  /** How often it is asked again, where what it says changes without a word; absent: never. */
  readonly refreshMs?: number;
  /** Calls `run` when the data may have changed. */
  readonly follow?: (run: () => void) => Disposable;
  readonly client: Client;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Maintains one ConfigMap in which the server publishes data about itself. */
export function startPublishedConfigMap(parts: PublishedConfigMapParts): Disposable {
  const { client, namespace, name, queueName, clock, observeQueue, onError, refreshMs, follow } = parts;
  const running = new DisposableStack();
  const publishNow = async () => {
    // Until it is known whether there is one, nothing is written.
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
