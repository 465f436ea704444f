import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type HealthCheck, healthEndpoints } from "../http/health.ts";
import { storedResources } from "../kinds/stored-resources.ts";
import { followFile } from "../process/follow-file.ts";
import type { Log } from "../process/logs.ts";
import { StartupError } from "../process/startup-error.ts";
import { EncryptedStore } from "../storage/encryption/encrypted-store.ts";
import { parseEncryptionConfiguration } from "../storage/encryption/encryption-configuration.ts";
import { type EncryptedResources, ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import type { Store } from "../storage/store.ts";
import type { ServerConfig } from "./config/server-options.ts";
import { EncryptionMetrics } from "./metrics/encryption-metrics.ts";

const flag = "--encryption-provider-config";
/** Interval at which the file is read again if it may change. */
const rereadIntervalMs = 60_000;

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
  readonly store: EncryptedStore;
  readonly encryption: Encryption;
}

/** Puts encryption around a store. Without a configuration, encrypted objects cannot be read. @throws StartupError */
export function openEncryption(store: Store, config: ServerConfig, log: Log): OpenEncryption {
  const { clock } = config;
  const { file, reloads } = config.encryption;
  const metrics = new EncryptionMetrics();
  const read = (bytes: Uint8Array) => ({
    transformers: transformersOf(bytes, metrics),
    hash: `sha256:${createHash("sha256").update(bytes).digest("hex")}`,
  });
  const first = file === undefined ? undefined : readAtStart(file);
  let current = first === undefined ? undefined : orStartupError(() => read(first));
  const encrypted = new EncryptedStore({
    store,
    clock,
    resourceOf: storedResources(),
    transformers: current?.transformers ?? new ResourceTransformers([], metrics.transformed),
  });
  const onChange = (bytes: Uint8Array) => {
    const changed = read(bytes);
    current = changed;
    encrypted.useTransformers(changed.transformers);
    metrics.reloaded(true);
    log.info("the encryption configuration has changed", { hash: changed.hash });
  };
  const onError = (error: unknown) => {
    metrics.reloaded(false);
    log.error(`${flag}: the file cannot be used, the former configuration stays in force`, {
      reason: (error as Error).message,
    });
  };
  const following =
    file === undefined || first === undefined || !reloads
      ? undefined
      : followFile({ file, bytes: first, clock, intervalMs: rereadIntervalMs, onChange, onError });
  return {
    store: encrypted,
    encryption: {
      metrics,
      // Upstream serves this check, which covers key services, whenever the file is reloaded.
      checks: reloads ? [{ name: "kms-providers", endpoints: healthEndpoints, check: () => undefined }] : [],
      configHash: () => current?.hash,
      described: () => current?.transformers.described ?? [],
    },
    [Symbol.dispose]() {
      following?.[Symbol.dispose]();
      encrypted[Symbol.dispose]();
    },
  };
}

function transformersOf(bytes: Uint8Array, metrics: EncryptionMetrics): ResourceTransformers {
  const configuration = labelled("error while parsing file", () => parseEncryptionConfiguration(bytes));
  return labelled(
    "error while building transformers",
    () => new ResourceTransformers(configuration, metrics.transformed),
  );
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

function labelled<T>(label: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Error(`${label}: ${(error as Error).message}`);
  }
}

function orStartupError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new StartupError(`${flag}: ${(error as Error).message}`);
  }
}
