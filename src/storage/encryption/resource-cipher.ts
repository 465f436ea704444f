import { EncryptionFailedError } from "../store.ts";
import { identity } from "./identity.ts";
import type { ResourceTransformer } from "./resource-transformers.ts";
import type { ValueContext } from "./transformer.ts";

/** The transformer of a resource that the configuration does not name, and of records that are not objects. */
export const unencrypted: ResourceTransformer = { transformer: identity, encrypts: false };

/** @throws EncryptionFailedError */
export function seal({ transformer }: ResourceTransformer, plain: Uint8Array, context: ValueContext): Uint8Array {
  try {
    return transformer.toStorage(plain, context);
  } catch (error) {
    throw new EncryptionFailedError((error as Error).message);
  }
}

/** Reports whether a write would encrypt an encrypted value in another way now. */
export function isStale({ transformer }: ResourceTransformer, sealed: Uint8Array, context: ValueContext): boolean {
  try {
    return transformer.fromStorage(sealed, context).isStale;
  } catch {
    return true;
  }
}
