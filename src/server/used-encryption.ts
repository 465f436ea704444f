import { sha256Text } from "../api/sha256-text.ts";
import {
  type ProviderConfiguration,
  parseEncryptionConfiguration,
  type ResourceConfiguration,
} from "../storage/encryption/encryption-configuration.ts";
import type { KeyServices, KeyServicesOptions } from "../storage/encryption/kms/key-services.ts";
import { ResourceTransformers } from "../storage/encryption/resource-transformers.ts";
import type { EncryptionMetrics } from "./metrics/encryption-metrics.ts";

/** A configuration of encryption with its key services, whose checks have begun. */
export interface UsedEncryption extends Disposable {
  /** Hash of the file. */
  readonly hash: string;
  readonly transformers: ResourceTransformers;
  /** Undefined if no provider needs one. */
  readonly keyServices: KeyServices | undefined;
}

/**
 * Opens a configuration. Resolves when its key services have answered or failed for the first time.
 * @throws Error with upstream's message for a file that cannot be used
 */
export async function useEncryption(
  bytes: Uint8Array,
  options: KeyServicesOptions,
  { transformed }: EncryptionMetrics,
): Promise<UsedEncryption> {
  const configuration = labelled("error while parsing file", () => parseEncryptionConfiguration(bytes));
  const open = await serviceOpener(configuration);
  return labelledAsync("error while building transformers", async () => {
    using parts = new DisposableStack();
    const keyServices = open && parts.use(open(options));
    const transformers = new ResourceTransformers(configuration, transformed, keyServices?.transformers);
    await keyServices?.start();
    const kept = parts.move();
    const hash = sha256Text(bytes);
    return { hash, transformers, keyServices, [Symbol.dispose]: () => kept.dispose() };
  });
}

/** Loads the gRPC library only if there is a key service. */
async function serviceOpener(
  configuration: readonly ResourceConfiguration[],
): Promise<((options: KeyServicesOptions) => KeyServices) | undefined> {
  const kms = configuration.flatMap(({ providers }) => providers.filter(isKms));
  if (kms.length === 0) return undefined;
  const { KeyServices } = await import("../storage/encryption/kms/key-services.ts");
  return (options) => new KeyServices(kms, options);
}

function isKms(provider: ProviderConfiguration): provider is Extract<ProviderConfiguration, { kind: "kms" }> {
  return provider.kind === "kms";
}

function labelled<T>(label: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw withLabel(label, error);
  }
}

async function labelledAsync<T>(label: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw withLabel(label, error);
  }
}

function withLabel(label: string, error: unknown): Error {
  return new Error(`${label}: ${(error as Error).message}`);
}
