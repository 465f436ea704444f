import { messageTypes } from "../../../api/codec/message-table.ts";

/** The messages of upstream's kms/apis/v2, and of the values that it stores. */
const root = messageTypes({
  StatusRequest: {},
  StatusResponse: { version: [1, "string"], healthz: [2, "string"], keyId: [3, "string"] },
  EncryptRequest: { plaintext: [1, "bytes"], uid: [2, "string"] },
  EncryptResponse: { ciphertext: [1, "bytes"], keyId: [2, "string"], annotations: [3, "bytes", "map"] },
  DecryptRequest: {
    ciphertext: [1, "bytes"],
    uid: [2, "string"],
    keyId: [3, "string"],
    annotations: [4, "bytes", "map"],
  },
  DecryptResponse: { plaintext: [1, "bytes"] },
  EncryptedObject: {
    encryptedData: [1, "bytes"],
    keyId: [2, "string"],
    encryptedSeed: [3, "bytes"],
    annotations: [4, "bytes", "map"],
    seedType: [5, "int32"],
  },
});

/** Fields of messages that are not sent have these values, also after decoding. */
export interface Messages {
  StatusRequest: object;
  StatusResponse: { version: string; healthz: string; keyId: string };
  EncryptRequest: { plaintext: Uint8Array; uid: string };
  EncryptResponse: { ciphertext: Uint8Array; keyId: string; annotations: Record<string, Uint8Array> };
  DecryptRequest: { ciphertext: Uint8Array; uid: string; keyId: string; annotations: Record<string, Uint8Array> };
  DecryptResponse: { plaintext: Uint8Array };
  EncryptedObject: {
    encryptedData: Uint8Array;
    keyId: string;
    encryptedSeed: Uint8Array;
    annotations: Record<string, Uint8Array>;
    seedType: number;
  };
}

export interface MessageCodec<Message> {
  encode(message: Message): Buffer;
  /** @throws Error for bytes that are not a message */
  decode(bytes: Uint8Array): Message;
}

export function messageCodec<Name extends keyof Messages>(name: Name): MessageCodec<Messages[Name]> {
  const type = root.lookupType(name);
  return {
    encode: (message) => Buffer.from(type.encode(message as Record<string, unknown>).finish()),
    decode: (bytes) => type.decode(bytes) as unknown as Messages[Name],
  };
}
