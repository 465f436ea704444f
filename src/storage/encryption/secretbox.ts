import { randomBytes } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa";
import type { OpenedValue, Transformer } from "./transformer.ts";

const nonceBytes = 24;
const tagBytes = 16;

/**
 * XSalsa20 with Poly1305 and a random nonce. It does not authenticate the storage key:
 *
 *     nonce · tag · ciphertext
 */
export class Secretbox implements Transformer {
  readonly #key: Uint8Array;

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  toStorage(plain: Uint8Array): Uint8Array {
    const nonce = randomBytes(nonceBytes);
    return Buffer.concat([nonce, xsalsa20poly1305(this.#key, nonce).encrypt(plain)]);
  }

  fromStorage(stored: Uint8Array): OpenedValue {
    if (stored.length < nonceBytes + tagBytes) throw new Error("the stored data was shorter than the required size");
    const box = xsalsa20poly1305(this.#key, stored.subarray(0, nonceBytes));
    try {
      return { plain: box.decrypt(stored.subarray(nonceBytes)), isStale: false };
    } catch {
      throw new Error("output array was not large enough for encryption");
    }
  }
}
