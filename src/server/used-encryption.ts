import { sha256Text } from "../api/sha256-text.ts";
import {
  type ProviderConfiguration,
  parseEncryptionConfiguration,
  type ResourceConfiguration,
} from "../storage/encryption/encryption-configuration.ts";
import type { KeyServices, KeyServicesOptions, KmsConfiguration } from "../storage/encryption/kms/key-services.ts";
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
  const configuration = await labelled("error while parsing file", async () => parseEncryptionConfiguration(bytes));
  const open = await serviceOpener(configuration);
  return labelled("error while building transformers", async () => {
    using parts = new DisposableStack();
    const keyServices = open && parts.use(open(options));
    const transformers = new ResourceTransformers(configuration, transformed, keyServices?.transformers);
    await keyServices?.start();
    const kept = parts.move();
    return { hash: sha256Text(bytes), transformers, keyServices, [Symbol.dispose]: () => kept.dispose() };
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

function isKms(provider: ProviderConfiguration): provider is KmsConfiguration {
  return provider.kind === "kms";
}

async function labelled<T>(label: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new Error(`${label}: ${(error as Error).message}`);
  }
}
