import { createHmac } from "node:crypto";
import { bootstrapTokenNamespace, bootstrapTokenPrefix, hasExpired } from "../access/authentication/bootstrap-token.ts";
import { parseTimeMs } from "../api/schema/time-text.ts";
import type { ConfigMap, Secret } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import type { Store } from "../storage/store.ts";
import { followObjects } from "./follow-objects.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

const tokenType = "bootstrap.kubernetes.io/token";
const infoNamespace = "kube-public";
const infoName = "cluster-info";
const signaturePrefix = "jws-kubeconfig-";
const tokenIdPattern = /^[a-z0-9]{6}$/;

export interface BootstrapTokensParts extends QueueSource {
  readonly secrets: Registry;
  readonly configMaps: Registry;
  readonly store: Store;
  readonly clock: Clock;
  /** Signing key: the whole token, or only its secret part as kubeadm expects. */
  readonly signWith: "token" | "secret";
  readonly onError: (error: unknown) => void;
}

/** Removes bootstrap tokens when they expire. Their Secrets may have any name. */
export function startTokenCleaner(parts: BootstrapTokensParts): Disposable {
  const { secrets, store, clock, observeQueue, onError } = parts;
  const prefix = secrets.keyOf(bootstrapTokenNamespace, "");
  const running = new DisposableStack();
  const queue = running.use(
    new WorkQueue({
      name: "token_cleaner",
      clock,
      observeQueue,
      onError,
      async work(key) {
        const secret: Secret | undefined = secrets.current(bootstrapTokenNamespace, nameOf(key));
        if (secret === undefined || secret.type !== tokenType) return;
        const expiration = valueOf(secret, "expiration");
        if (hasExpired(expiration, clock.nowMs())) await removeObject(secrets, secret, controllerManagerContext);
        else if (expiration !== "") queue.addAfter(key, msUntil(expiration, clock));
      },
    }),
  );
  running.use(
    followObjects(store, prefix, (key, type) => {
      if (type !== "DELETED") queue.add(key);
    }),
  );
  return running;
}

/**
 * Signs the public ConfigMap cluster-info with every token that allows it, so that holders of a token can trust its
 * contents.
 */
export function startBootstrapSigner(parts: BootstrapTokensParts): Disposable {
  const { secrets, configMaps, store, clock, observeQueue, onError } = parts;
  const infoKey = configMaps.keyOf(infoNamespace, infoName);
  const running = new DisposableStack();
  const work = async () => {
    const expirations = await sign(parts);
    // An expired token must not sign the contents any more.
    const waits = expirations.filter((time) => time !== "").map((time) => msUntil(time, clock));
    if (waits.length > 0) queue.addAfter(infoKey, Math.min(...waits));
  };
  const queue: WorkQueue = running.use(
    new WorkQueue({ name: "bootstrap_signer_queue", clock, observeQueue, onError, work }),
  );
  running.use(followObjects(store, infoKey, (key) => key === infoKey && queue.add(infoKey)));
  running.use(followObjects(store, tokenKeyPrefix(secrets), () => queue.add(infoKey)));
  return running;
}

/** Returns the expirations of the tokens that have signed. */
async function sign({ secrets, configMaps, clock, signWith }: BootstrapTokensParts): Promise<string[]> {
  const info: ConfigMap | undefined = configMaps.current(infoNamespace, infoName);
  if (info?.data?.["kubeconfig"] === undefined) return [];
  const tokens = secrets.cacher
    .entries(tokenKeyPrefix(secrets))
    .flatMap(({ key }) => secrets.current(bootstrapTokenNamespace, nameOf(key)) ?? [])
    .filter((secret) => maySign(secret, clock.nowMs()));
  const signed = (object: ConfigMap): ConfigMap => {
    const { data = {} } = object;
    const kubeconfig = data["kubeconfig"];
    if (kubeconfig === undefined) return object;
    const kept = Object.entries(data).filter(([name]) => !name.startsWith(signaturePrefix));
    const signatures = tokens.map((secret) => {
      const [id, secretPart] = [valueOf(secret, "token-id"), valueOf(secret, "token-secret")];
      const key = signWith === "token" ? `${id}.${secretPart}` : secretPart;
      return [signaturePrefix + id, detachedSignature(kubeconfig, id, key)] as const;
    });
    return { ...object, data: Object.fromEntries([...kept, ...signatures]) };
  };
  await configMaps.update(infoNamespace, infoName, signed, controllerManagerContext, { reapplies: true });
  return tokens.map((secret) => valueOf(secret, "expiration"));
}

function maySign(secret: Secret, nowMs: number): boolean {
  return (
    secret.type === tokenType &&
    secret.metadata.deletionTimestamp === undefined &&
    tokenIdPattern.test(valueOf(secret, "token-id")) &&
    secret.metadata.name === bootstrapTokenPrefix + valueOf(secret, "token-id") &&
    valueOf(secret, "token-secret") !== "" &&
    valueOf(secret, "usage-bootstrap-signing") === "true" &&
    !hasExpired(valueOf(secret, "expiration"), nowMs)
  );
}

/** Returns a JWS without its payload, RFC 7515 appendix F. Both sides only use HS256. */
export function detachedSignature(payload: string, keyId: string, key: string): string {
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  const header = encode(JSON.stringify({ alg: "HS256", kid: keyId }));
  const signature = createHmac("sha256", key)
    .update(`${header}.${encode(payload)}`)
    .digest("base64url");
  return `${header}..${signature}`;
}

/** Returns the time until the expiration, at least 1. */
function msUntil(expiration: string, clock: Clock): number {
  return Math.max(1, (parseTimeMs(expiration) ?? 0) - clock.nowMs());
}

function tokenKeyPrefix(secrets: Registry): string {
  return secrets.keyOf(bootstrapTokenNamespace, bootstrapTokenPrefix);
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

function valueOf({ data = {} }: Secret, field: string): string {
  return Buffer.from(data[field] ?? "", "base64").toString("utf8");
}
