import type { TokenIssuer } from "../access/authentication/service-account/token-issuer.ts";
import {
  accountNameAnnotation,
  accountUidAnnotation,
  tokenSecretType,
} from "../access/authentication/service-account/token-secret.ts";
import type { Key } from "../api/entry.ts";
import type { Secret } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import type { Store } from "../storage/store.ts";
import { followObjects } from "./follow-objects.ts";
import { namesOf } from "./object-key.ts";
import type { TrustBundle } from "./trust-bundle.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

/** Time after which a Secret without its account is removed. The Secret may be created before the account. */
const accountWaitMs = 10_000;

export interface TokenSecretsParts extends QueueSource {
  readonly secrets: Registry;
  readonly serviceAccounts: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly issuer: TokenIssuer;
  readonly ca: TrustBundle;
  readonly onError: (error: unknown) => void;
}

/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token that does not expire. Removes them with their
 * account.
 */
export function startTokenSecrets(parts: TokenSecretsParts): Disposable {
  const { secrets, serviceAccounts, store, clock, observeQueue, onError } = parts;
  const running = new DisposableStack();
  const queue: WorkQueue = running.use(
    new WorkQueue({
      name: "serviceaccount_tokens_secret",
      clock,
      observeQueue,
      onError,
      work: (key) => settle(parts, queue, key),
    }),
  );
  running.use(
    followObjects(store, secrets.info.keyPrefix, (key, type) => {
      if (type !== "DELETED") queue.add(key);
    }),
  );
  running.use(
    followObjects(store, serviceAccounts.info.keyPrefix, (key) => {
      const { namespace } = namesOf(serviceAccounts, key);
      for (const secret of secrets.cacher.entries(secrets.keyOf(namespace, ""))) queue.add(secret.key);
    }),
  );
  running.use(
    parts.ca.follow(() => {
      for (const secret of secrets.cacher.entries()) queue.add(secret.key);
    }),
  );
  return running;
}

async function settle(parts: TokenSecretsParts, queue: WorkQueue, key: Key): Promise<void> {
  const { secrets, serviceAccounts, clock } = parts;
  const { namespace, name } = namesOf(secrets, key);
  const secret: Secret | undefined = secrets.current(namespace, name);
  const accountName = secret?.metadata.annotations?.[accountNameAnnotation] ?? "";
  if (secret === undefined || secret.type !== tokenSecretType || accountName === "") return;
  if (secret.metadata.deletionTimestamp !== undefined) return;
  const account = serviceAccounts.current(namespace, accountName);
  const knownUid = secret.metadata.annotations?.[accountUidAnnotation] ?? "";
  const uid = account?.metadata.uid ?? "";
  if (account !== undefined && (knownUid === "" || knownUid === uid)) return fill(parts, secret, accountName, uid);
  const waitedMs = clock.nowMs() - Date.parse(secret.metadata.creationTimestamp ?? "");
  if (knownUid === "" && waitedMs < accountWaitMs) return queue.addAfter(key, accountWaitMs - waitedMs);
  await removeObject(secrets, secret, controllerManagerContext);
}

async function fill(parts: TokenSecretsParts, secret: Secret, account: string, uid: string): Promise<void> {
  const { secrets, issuer } = parts;
  const ca = parts.ca.pem();
  const {
    metadata: { namespace = "", name = "" },
    data = {},
  } = secret;
  const isComplete = (data["token"] ?? "") !== "" && (data["namespace"] ?? "") !== "" && data["ca.crt"] === base64(ca);
  if (isComplete && secret.metadata.annotations?.[accountUidAnnotation] === uid) return;
  const token = data["token"] || base64(await issuer.issueForSecret(namespace, name, { name: account, uid }));
  await secrets.update(
    namespace,
    name,
    (old: Secret) => {
      // Another Secret has taken the name. The token is not for that Secret, which is handled separately.
      if (old.metadata.uid !== secret.metadata.uid) return old;
      const { data = {} } = old;
      return {
        ...old,
        metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, [accountUidAnnotation]: uid } },
        data: { ...data, namespace: data["namespace"] || base64(namespace), "ca.crt": base64(ca), token },
      };
    },
    controllerManagerContext,
    { reapplies: true },
  );
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
