import { readFile } from "node:fs/promises";
import { systemClock } from "../../process/clock.ts";
import { orStartupError } from "../../process/or-startup-error.ts";
import { EncryptionMetrics } from "../../server/metrics/encryption-metrics.ts";
import { useEncryption } from "../../server/used-encryption.ts";
import { ResourceTransformers } from "../../storage/encryption/resource-transformers.ts";

/** The keys of encrypted objects, as a server with the same file uses them. */
export interface UsedKeys extends Disposable {
  readonly transformers: ResourceTransformers;
}

/** @param file undefined if nothing is encrypted. @throws StartupError */
export async function openKeys(file: string | undefined): Promise<UsedKeys> {
  const metrics = new EncryptionMetrics();
  if (file === undefined) {
    return { transformers: new ResourceTransformers([], metrics.transformed), [Symbol.dispose]: () => undefined };
  }
  const services = { clock: systemClock, observer: metrics.keyServices, onReadable() {}, onUnhealthy() {} };
  return await orStartupError("--encryption-provider-config", async () =>
    useEncryption(await readFile(file), services, metrics),
  );
}
