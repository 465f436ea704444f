import { type CipherGCMTypes, createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { OpenedValue, Transformer, ValueContext } from "./transformer.ts";

const blockBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

const tooShort = "the stored data was shorter than the required size";

/**
 * AES-GCM with a random nonce, which authenticates the storage key:
 *
 *     nonce · ciphertext · tag
 */
export class AesGcm implements Transformer {
  readonly #key: Uint8Array;
  readonly #algorithm: CipherGCMTypes;

  /** @param key 16, 24 or 32 bytes */
  constructor(key: Uint8Array) {
    this.#key = key;
    this.#algorithm = `aes-${key.length * 8}-gcm` as CipherGCMTypes;
  }

  toStorage(plain: Uint8Array, { key }: ValueContext): Uint8Array {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(this.#algorithm, this.#key, nonce).setAAD(Buffer.from(key));
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  fromStorage(stored: Uint8Array, { key }: ValueContext): OpenedValue {
    if (stored.length < nonceBytes) throw new Error(tooShort);
    if (stored.length < nonceBytes + tagBytes) throw unauthentic();
    const tagAt = stored.length - tagBytes;
    const decipher = createDecipheriv(this.#algorithm, this.#key, stored.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(key)).setAuthTag(stored.subarray(tagAt));
    const plain = decipher.update(stored.subarray(nonceBytes, tagAt));
    try {
      return { plain: Buffer.concat([plain, decipher.final()]), isStale: false };
    } catch {
      throw unauthentic();
    }
  }
}

function unauthentic(): Error {
  return new Error("cipher: message authentication failed");
}

/**
 * AES-CBC with a random initialization vector and PKCS#7 padding. It authenticates nothing:
 *
 *     initialization vector · ciphertext
 */
export class AesCbc implements Transformer {
  readonly #key: Uint8Array;
  readonly #algorithm: string;

  /** @param key 16, 24 or 32 bytes */
  constructor(key: Uint8Array) {
    this.#key = key;
    this.#algorithm = `aes-${key.length * 8}-cbc`;
  }

  toStorage(plain: Uint8Array): Uint8Array {
    const vector = randomBytes(blockBytes);
    const cipher = createCipheriv(this.#algorithm, this.#key, vector);
    return Buffer.concat([vector, cipher.update(plain), cipher.final()]);
  }

  fromStorage(stored: Uint8Array): OpenedValue {
    if (stored.length < blockBytes) throw new Error(tooShort);
    if (stored.length % blockBytes !== 0) throw new Error("the stored data is not a multiple of the block size");
    if (stored.length === blockBytes) throw badPadding();
    const decipher = createDecipheriv(this.#algorithm, this.#key, stored.subarray(0, blockBytes));
    const plain = decipher.update(stored.subarray(blockBytes));
    try {
      return { plain: Buffer.concat([plain, decipher.final()]), isStale: false };
    } catch {
      throw badPadding();
    }
  }
}

/** Returns one error for all kinds of wrong padding. */
function badPadding(): Error {
  return new Error("invalid padding on input");
}
