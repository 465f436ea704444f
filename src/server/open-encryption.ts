import { readFileSync } from "node:fs";
import type { HealthCheck } from "../http/health.ts";
import { atMost } from "../process/at-most.ts";
import { followFile } from "../process/follow-file.ts";
import type { Log } from "../process/logs.ts";
import { orStartupError } from "../process/or-startup-error.ts";
import { StartupError } from "../process/startup-error.ts";
import { thrownText } from "../process/thrown-text.ts";
import type { KeyServicesOptions } from "../storage/encryption/kms/key-services.ts";
import { type EncryptedResources, ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { EncryptionReload } from "./encryption-reload.ts";
import { EncryptionMetrics } from "./metrics/encryption-metrics.ts";
import type { Seal, SealedStore } from "./sealed-store.ts";
import { type UsedEncryption, useEncryption } from "./used-encryption.ts";

const flag = "--encryption-provider-config";
/** Interval at which the file is read again if it may change. */
const rereadIntervalMs = 60_000;
/** Time that key services have at the start to decrypt the seeds in the store. */
const seedsMsMax = 10_000;

/** How a server encrypts what it stores. */
export interface Encryption {
  readonly metrics: EncryptionMetrics;
  readonly checks: readonly HealthCheck[];
  /** Hash of the configuration in use; undefined without one. */
  configHash(): string | undefined;
  /** Lists the resources that have a rule. */
  described(): readonly EncryptedResources[];
}

export interface OpenEncryption extends Disposable {
  readonly sealed: SealedStore;
  readonly encryption: Encryption;
}

/**
 * Opens a store with the configured encryption. Without a configuration, encrypted objects cannot be read. Resolves when
 * the key services have answered, or after a few seconds.
 * @throws StartupError
 */
export async function openEncryption(seal: Seal, config: ServerConfig, log: Log): Promise<OpenEncryption> {
  using parts = new DisposableStack();
  const { clock } = config;
  const { file, reloads } = config.encryption;
  const metrics = new EncryptionMetrics();
  let sealed: SealedStore | undefined;
  const services: KeyServicesOptions = {
    clock,
    observer: metrics.keyServices,
    onReadable: () => sealed?.reopen(),
    onUnhealthy: (provider, error) =>
      log.error("a key service failed its health check", { provider, reason: thrownText(error) }),
  };
  const open = (bytes: Uint8Array, before?: UsedEncryption) =>
    useEncryption(bytes, { ...services, before: before?.keyServices }, metrics);

  const first = file === undefined ? undefined : readAtStart(file);
  let current = first === undefined ? undefined : await orStartupError(flag, () => open(first));
  parts.defer(() => current?.[Symbol.dispose]());
  const transformers = current?.transformers ?? new ResourceTransformers([], metrics.transformed);
  sealed = parts.use(await seal(transformers));
  const firstServices = current?.keyServices;
  if (firstServices !== undefined) {
    // One may have answered while the store was loading what it could not decrypt yet.
    sealed.reopen();
    await atMost(clock, seedsMsMax, firstServices.idle());
  }

  const onUsed = (changed: UsedEncryption) => {
    const before = current;
    current = changed;
    sealed?.useTransformers(changed.transformers);
    // Calls under way may end.
    if (before !== undefined) clock.after(before.keyServices?.graceMs ?? 0, () => before[Symbol.dispose]());
    metrics.reloaded(true);
    log.info("the encryption configuration has changed", { hash: changed.hash });
  };
  const onError = (error: unknown) => {
    metrics.reloaded(false);
    log.error(`${flag}: the file cannot be used, the former configuration stays in force`, {
      reason: thrownText(error),
    });
  };
  if (file !== undefined && first !== undefined && reloads) {
    const reload = parts.use(new EncryptionReload({ clock, open: (bytes) => open(bytes, current), onUsed, onError }));
    const onChange = (bytes: Uint8Array) => reload.change(bytes);
    parts.use(followFile({ file, bytes: first, clock, intervalMs: rereadIntervalMs, onChange, onError }));
  }
  const check: HealthCheck = {
    name: "kms-providers",
    endpoints: ["readyz", "healthz"],
    check: () => current?.keyServices?.check(),
  };
  const kept = parts.move();
  return {
    sealed,
    encryption: {
      metrics,
      // A file that may change may get a key service.
      checks: reloads || firstServices !== undefined ? [check] : [],
      configHash: () => current?.hash,
      described: () => current?.transformers.described ?? [],
    },
    [Symbol.dispose]: () => kept.dispose(),
  };
}

function readAtStart(file: string): Uint8Array {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > 0) return bytes;
  } catch (error) {
    throw new StartupError(`${flag}: cannot read ${file} (${(error as { code?: string }).code}): check the path`);
  }
  throw new StartupError(`${flag}: encryption provider configuration file ${JSON.stringify(file)} is empty`);
}
