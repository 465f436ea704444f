import type { SecretTokenUses } from "../access/authentication/service-account/secret-token-uses.ts";
import { lastUsedLabel } from "../access/authentication/service-account/token-secret.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ConfigMap } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { apiServerContext } from "../registry/server-context.ts";
import { namesOf } from "./object-key.ts";
import { startPublishedConfigMap } from "./published-config-map.ts";
import { dayOf, isDay } from "./utc-day.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const namespace = "kube-system";
const name = "kube-apiserver-legacy-service-account-token-tracking";
const queueName = "legacy_token_tracking_controller";
/** Maximum number of Secrets remembered as labelled with today's date. Beyond it all are checked again. */
const notedTodayMax = 4_096;

export interface TrackingStartParts extends QueueSource {
  readonly client: Client;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Publishes in a ConfigMap the date since which uses of tokens are recorded, so that unused tokens can be removed. */
export function startTrackingStart(parts: TrackingStartParts): Disposable {
  const { clock } = parts;
  const data = (current: KubeObject | undefined) => ({ since: sinceOf(current) ?? dayOf(clock.nowMs()) });
  return startPublishedConfigMap({ ...parts, namespace, name, queueName, data });
}

/** Returns the day since which uses are recorded; undefined if they are not. */
export function trackingStart(configMaps: Registry): string | undefined {
  return sinceOf(configMaps.current(namespace, name));
}

export interface LegacyTokenTrackingParts extends QueueSource {
  readonly secrets: Registry;
  readonly clock: Clock;
  /** Uses of tokens on this server. */
  readonly uses: SecretTokenUses;
  readonly onError: (error: unknown) => void;
}

/** Records the day of the last use of a Secret's token as a label of the Secret. */
export function startLegacyTokenTracking(parts: LegacyTokenTrackingParts): Disposable {
  const { secrets, clock, observeQueue, onError, uses } = parts;
  const running = new DisposableStack();
  const queue = running.use(
    new WorkQueue({ name: queueName, clock, observeQueue, onError, work: (key) => label(parts, key) }),
  );
  let today = "";
  const noted = new Set<string>();
  running.use(
    uses.follow((secretNamespace, secretName) => {
      const date = dayOf(clock.nowMs());
      if (date !== today || noted.size >= notedTodayMax) noted.clear();
      today = date;
      const key = secrets.keyOf(secretNamespace, secretName);
      if (noted.has(key)) return;
      noted.add(key);
      queue.add(key);
    }),
  );
  return running;
}

async function label({ secrets, clock }: LegacyTokenTrackingParts, key: string): Promise<void> {
  const { namespace: secretNamespace, name: secretName } = namesOf(secrets, key);
  const date = dayOf(clock.nowMs());
  const secret = secrets.current(secretNamespace, secretName);
  if (secret === undefined || secret.metadata.labels?.[lastUsedLabel] === date) return;
  const labelled = (old: KubeObject): KubeObject => ({
    ...old,
    metadata: { ...old.metadata, labels: { ...old.metadata.labels, [lastUsedLabel]: date } },
  });
  await secrets.update(secretNamespace, secretName, labelled, apiServerContext, { reapplies: true });
}

function sinceOf(configMap: ConfigMap | undefined): string | undefined {
  const since = configMap?.data?.["since"] ?? "";
  return isDay(since) ? since : undefined;
}
