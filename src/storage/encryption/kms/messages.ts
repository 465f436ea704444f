import { type IMapField, type INamespace, Root } from "protobufjs/light.js";

const annotations = (id: number): IMapField => ({ keyType: "string", type: "bytes", id });

/** The messages of upstream's kms/apis/v2, and of the values that it stores. */
const definition: INamespace = {
  nested: {
    StatusRequest: { fields: {} },
    StatusResponse: {
      fields: {
        version: { type: "string", id: 1 },
        healthz: { type: "string", id: 2 },
        keyId: { type: "string", id: 3 },
      },
    },
    EncryptRequest: { fields: { plaintext: { type: "bytes", id: 1 }, uid: { type: "string", id: 2 } } },
    EncryptResponse: {
      fields: {
        ciphertext: { type: "bytes", id: 1 },
        keyId: { type: "string", id: 2 },
        annotations: annotations(3),
      },
    },
    DecryptRequest: {
      fields: {
        ciphertext: { type: "bytes", id: 1 },
        uid: { type: "string", id: 2 },
        keyId: { type: "string", id: 3 },
        annotations: annotations(4),
      },
    },
    DecryptResponse: { fields: { plaintext: { type: "bytes", id: 1 } } },
    EncryptedObject: {
      fields: {
        encryptedData: { type: "bytes", id: 1 },
        keyId: { type: "string", id: 2 },
        encryptedSeed: { type: "bytes", id: 3 },
        annotations: annotations(4),
        seedType: { type: "int32", id: 5 },
      },
    },
  },
};

const root = Root.fromJSON(definition);

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
