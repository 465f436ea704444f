import {
  accountNameAnnotation,
  accountUidAnnotation,
  invalidSinceLabel,
  lastUsedLabel,
  tokenSecretType,
} from "../access/authentication/service-account/token-secret.ts";
import { podReferences, type ReferenceKey, referenceKey } from "../access/authorization/node/references.ts";
import { decodeBody, decodeEntry } from "../api/codec/stored-object.ts";
import type { Entry } from "../api/entry.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Secret, ServiceAccount } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import { TurnSlice } from "../process/turn-slice.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import { trackingStart } from "./legacy-token-tracking.ts";
import { dayOf, isDay } from "./utc-day.ts";

const dayMs = 24 * 3_600_000;
/** Time without use after which a token is invalidated, and after which an invalid one is removed. */
const unusedMs = 365 * dayMs;

export interface LegacyTokenCleanerParts {
  readonly secrets: Registry;
  readonly serviceAccounts: Registry;
  readonly pods: Registry;
  readonly configMaps: Registry;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Invalidates tokens in Secrets that old releases made for service accounts and that nobody has used for a year, and
 * removes them after another year.
 */
export function startLegacyTokenCleaner(parts: LegacyTokenCleanerParts): Disposable {
  const running = new DisposableStack();
  const clean = () => {
    cleanLegacyTokens(parts, () => running.disposed).catch((error: unknown) => {
      if (!running.disposed) parts.onError(error);
    });
  };
  clean();
  running.use(parts.clock.every(dayMs, clean));
  return running;
}

async function cleanLegacyTokens(parts: LegacyTokenCleanerParts, isStopped: () => boolean): Promise<void> {
  const { secrets, clock } = parts;
  const nowMs = clock.nowMs();
  const since = trackingStart(parts.configMaps);
  // The day on which tracking started is incomplete.
  if (since === undefined || nowMs < Date.parse(since) + dayMs + unusedMs) return;
  const slice = new TurnSlice();
  const used = new Map<string, ReadonlySet<ReferenceKey>>();
  for (const entry of secrets.cacher.entries()) {
    if (entry.index.fields?.["type"] !== tokenSecretType) continue;
    await slice.pass();
    if (isStopped()) return;
    const secret = decodeEntry(entry, secrets.info) as Secret;
    const { namespace = "", name = "" } = secret.metadata;
    if (!isUnused(secret, nowMs) || !isGenerated(secret, parts)) continue;
    const references = used.get(namespace) ?? referencesOfPods(parts, namespace);
    used.set(namespace, references);
    if (references.has(referenceKey("secrets", namespace, name))) continue;
    try {
      await retire(parts, secret, nowMs);
    } catch (error) {
      // The next day tries again. One Secret must not keep the others.
      if (!(error instanceof StatusError)) throw error;
    }
  }
}

/** Reports whether the token is old and was not used for long. One with an unreadable day of use is kept. */
function isUnused({ metadata }: KubeObject, nowMs: number): boolean {
  const created = Date.parse(metadata.creationTimestamp ?? "");
  if (metadata.deletionTimestamp !== undefined || !(created < nowMs - unusedMs)) return false;
  const lastUsed = metadata.labels?.[lastUsedLabel];
  return lastUsed === undefined || (isDay(lastUsed) && lastUsed < dayOf(nowMs - unusedMs));
}

/** Reports whether the account names the Secret, as it does with those that were made for it. */
function isGenerated({ metadata }: Secret, { serviceAccounts }: LegacyTokenCleanerParts): boolean {
  const { [accountNameAnnotation]: account = "", [accountUidAnnotation]: uid = "" } = metadata.annotations ?? {};
  if (account === "") return false;
  const found = serviceAccounts.current(metadata.namespace ?? "", account) as ServiceAccount | undefined;
  if (found === undefined || (uid !== "" && uid !== found.metadata.uid)) return false;
  return found.secrets?.some(({ name }) => name === metadata.name) ?? false;
}

/** Returns what the pods of a namespace use. */
function referencesOfPods({ pods }: LegacyTokenCleanerParts, namespace: string): ReadonlySet<ReferenceKey> {
  const prefix = pods.keyOf(namespace, "");
  const referencesOf = (entry: Entry) => podReferences(decodeBody(entry), namespace, entry.key.slice(prefix.length));
  return new Set(pods.cacher.entries(prefix).flatMap(referencesOf));
}

async function retire({ secrets }: LegacyTokenCleanerParts, secret: Secret, nowMs: number): Promise<void> {
  const { namespace = "", name = "", uid } = secret.metadata;
  const invalidSince = secret.metadata.labels?.[invalidSinceLabel] ?? "";
  if (isDay(invalidSince)) {
    if (invalidSince < dayOf(nowMs - unusedMs)) await removeObject(secrets, secret, controllerManagerContext);
    return;
  }
  const invalidated = (old: KubeObject): KubeObject => {
    // The token may have been used in the meantime.
    if (old.metadata.uid !== uid || !isUnused(old, nowMs)) return old;
    const labels = { ...old.metadata.labels, [invalidSinceLabel]: dayOf(nowMs) };
    return { ...old, metadata: { ...old.metadata, labels } };
  };
  await secrets.update(namespace, name, invalidated, controllerManagerContext, { reapplies: true });
}
