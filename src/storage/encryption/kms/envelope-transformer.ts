import { randomUUID } from "node:crypto";
import { thrownText } from "../../../process/thrown-text.ts";
import { AesGcm } from "../aes.ts";
import type { OpenedValue, Transformer, ValueContext } from "../transformer.ts";
import {
  decodeEncryptedObject,
  type EncryptedObject,
  encodeEncryptedObject,
  seedId,
  seedTypes,
} from "./encrypted-object.ts";
import { type KeyService, KeyServiceError } from "./key-service.ts";
import type { KeyServiceObserver } from "./key-service-observer.ts";
import type { SeedCache } from "./seed-cache.ts";
import { SeedCipher } from "./seed-cipher.ts";
import type { WriteSeedSource } from "./write-seed.ts";

export interface EnvelopeOptions {
  readonly provider: string;
  readonly service: KeyService;
  readonly seeds: SeedCache;
  readonly writing: Pick<WriteSeedSource, "current" | "writable">;
  readonly observer: KeyServiceObserver;
}

/**
 * Encrypts with a seed that is stored with each value, encrypted by a key service. The service is called only for seeds
 * that are not known yet.
 */
export class EnvelopeTransformer implements Transformer {
  readonly #options: EnvelopeOptions;

  constructor(options: EnvelopeOptions) {
    this.#options = options;
  }

  toStorage(plain: Uint8Array, context: ValueContext): Uint8Array {
    const { provider, writing, observer } = this.#options;
    const { cipher, seed } = writing.writable();
    const data = cipher.toStorage(plain, context);
    observer.keyUsed("to_storage", provider, seed.keyId);
    return encodeEncryptedObject({ seed, seedType: seedTypes.seed, data });
  }

  fromStorage(stored: Uint8Array, context: ValueContext): OpenedValue {
    const { provider, writing, seeds, observer } = this.#options;
    const { seed, seedType, data } = decodeEncryptedObject(stored);
    const current = writing.current();
    const cipher = seeds.find(seedId(seed, seedType)) ?? new Error("the key service has not answered yet");
    if (cipher instanceof Error) throw cipher;
    observer.keyUsed("from_storage", provider, seed.keyId);
    const { plain } = cipher.fromStorage(data, context);
    return { plain, isStale: seed.keyId !== current.seed.keyId || seedType !== seedTypes.seed };
  }

  prepare(stored: Uint8Array): Promise<void> | undefined {
    let object: EncryptedObject;
    try {
      object = decodeEncryptedObject(stored);
    } catch {
      return undefined;
    }
    const { seed, seedType } = object;
    return this.#options.seeds.prepare(seedId(seed, seedType), () => this.#decrypt(seed, seedType));
  }

  async #decrypt(seed: EncryptedObject["seed"], seedType: number): Promise<Transformer> {
    const { service, observer } = this.#options;
    observer.seedMissed();
    let plain: Uint8Array;
    try {
      plain = await service.decrypt(randomUUID(), seed);
    } catch (error) {
      const message = `failed to decrypt DEK, error: ${thrownText(error)}`;
      throw error instanceof KeyServiceError ? new KeyServiceError(error.code, message) : new Error(message);
    }
    return seedType === seedTypes.seed ? new SeedCipher(plain) : cipherOfKey(plain);
  }
}

function cipherOfKey(key: Uint8Array): Transformer {
  if (![16, 24, 32].includes(key.length)) throw new Error(`crypto/aes: invalid key size ${key.length}`);
  return new AesGcm(key);
}
