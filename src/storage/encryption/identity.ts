import type { OpenedValue, Transformer } from "./transformer.ts";

const encryptedPrefix = Buffer.from("k8s:enc:");

/** Reports whether a stored value is encrypted. JSON and protobuf never start like this. */
export function isEncrypted(stored: Uint8Array): boolean {
  if (stored[0] !== encryptedPrefix[0] || stored.length < encryptedPrefix.length) return false;
  return encryptedPrefix.every((byte, at) => stored[at] === byte);
}

/** Stores values as they are. */
export const identity: Transformer = {
  toStorage: (plain) => plain,
  fromStorage(stored): OpenedValue {
    if (isEncrypted(stored)) throw new Error("identity transformer tried to read encrypted data");
    return { plain: stored, isStale: false };
  },
};
