import type { Clock } from "../process/clock.ts";
import { formatTime } from "../api/time.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { SecretTokenUses } from "../access/authentication/service-account/secret-token-uses.ts";
import type { Client } from "../client/client.ts";
import type { Registry } from "../registry/registry.ts";
import { apiServerContext } from "../registry/server-context.ts";
import { startPublishedConfigMap } from "./published-config-map.ts";
import { WorkQueue } from "./work-queue.ts";

const namespace = "kube-system";
const name = "kube-apiserver-legacy-service-account-token-tracking";
const lastUsedLabel = "kubernetes.io/legacy-token-last-used";
const datePattern = /^\d{4}-\d{2}-\d{2}$/;
/** Secrets that are known to carry today's date; beyond so many all are looked at again. */
const notedTodayMax = 4_096;

export interface TrackingStartParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Says in a ConfigMap since when uses of tokens are written down: whoever cleans up may remove what nobody uses. */
export function startTrackingStart(parts: TrackingStartParts): Disposable {
  const { clock } = parts;
  const data = (current: KubeObject | undefined) => ({ since: sinceOf(current) ?? dateOf(clock) });
  return startPublishedConfigMap({ ...parts, namespace, name, data });
}

export interface LegacyTokenTrackingParts {
  readonly secrets: Registry;
  readonly clock: Clock;
  /** On this server. */
  readonly uses: SecretTokenUses;
  readonly onError: (error: unknown) => void;
}

/** Writes down on which day the token of a Secret was used last, as a label of the Secret. */
export function startLegacyTokenTracking(parts: LegacyTokenTrackingParts): Disposable {
  const { secrets, clock, onError, uses } = parts;
  const running = new DisposableStack();
  const queue = running.use(new WorkQueue({ clock, onError, work: (key) => label(parts, key) }));
  let today = "";
  const noted = new Set<string>();
  running.use(
    uses.follow((secretNamespace, secretName) => {
      const date = dateOf(clock);
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
  const [secretNamespace = "", secretName = ""] = key.slice(secrets.info.keyPrefix.length).split("/");
  const date = dateOf(clock);
  const secret = secrets.current(secretNamespace, secretName);
  if (secret === undefined || secret.metadata.labels?.[lastUsedLabel] === date) return;
  const labelled = (old: KubeObject): KubeObject => ({
    ...old,
    metadata: { ...old.metadata, labels: { ...old.metadata.labels, [lastUsedLabel]: date } },
  });
  await secrets.update(secretNamespace, secretName, labelled, apiServerContext, { reapplies: true });
}

function sinceOf(configMap: KubeObject | undefined): string | undefined {
  const { since = "" } = (configMap?.["data"] ?? {}) as { since?: string };
  return datePattern.test(since) ? since : undefined;
}

/** The day in UTC. */
function dateOf(clock: Clock): string {
  return formatTime(clock.nowMs()).slice(0, "2000-01-01".length);
}
