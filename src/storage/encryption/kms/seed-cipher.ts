import { createHmac, randomBytes } from "node:crypto";
import { AesGcm } from "../aes.ts";
import type { OpenedValue, Transformer, ValueContext } from "../transformer.ts";

export const seedBytes = 32;
const infoBytes = 32;
/** The last byte of the input to the first, and here only, block of HKDF. */
const firstBlock = Uint8Array.of(1);

/**
 * AES-GCM with a key of its own for each value, so that a seed never wears out:
 *
 *     info · nonce · ciphertext · tag          key = HKDF-Expand(SHA-256, seed, info)
 */
export class SeedCipher implements Transformer {
  readonly #seed: Uint8Array;

  /** @throws Error for a seed that is too short */
  constructor(seed: Uint8Array) {
    if (seed.length < seedBytes) throw new Error(`invalid seed length ${seed.length} used for key generation`);
    this.#seed = seed;
  }

  toStorage(plain: Uint8Array, context: ValueContext): Uint8Array {
    const info = randomBytes(infoBytes);
    return Buffer.concat([info, this.#cipher(info).toStorage(plain, context)]);
  }

  fromStorage(stored: Uint8Array, context: ValueContext): OpenedValue {
    if (stored.length < infoBytes) throw new Error("the stored data was shorter than the required size");
    return this.#cipher(stored.subarray(0, infoBytes)).fromStorage(stored.subarray(infoBytes), context);
  }

  #cipher(info: Uint8Array): AesGcm {
    return new AesGcm(createHmac("sha256", this.#seed).update(info).update(firstBlock).digest());
  }
}
