import { type INamespace, Root, Writer } from "protobufjs/light.js";

/** The messages of etcd's API (rpc.proto, kv.proto) that the store uses. Fields that it does not use are left out. */
const definition: INamespace = {
  nested: {
    ResponseHeader: {
      fields: {
        clusterId: { type: "uint64", id: 1 },
        memberId: { type: "uint64", id: 2 },
        revision: { type: "int64", id: 3 },
      },
    },
    KeyValue: {
      fields: {
        key: { type: "bytes", id: 1 },
        createRevision: { type: "int64", id: 2 },
        modRevision: { type: "int64", id: 3 },
        version: { type: "int64", id: 4 },
        value: { type: "bytes", id: 5 },
      },
    },
    RangeRequest: {
      fields: {
        key: { type: "string", id: 1 },
        rangeEnd: { type: "string", id: 2 },
        limit: { type: "int64", id: 3 },
        revision: { type: "int64", id: 4 },
        serializable: { type: "bool", id: 7 },
        keysOnly: { type: "bool", id: 8 },
        countOnly: { type: "bool", id: 9 },
      },
    },
    PageRequest: {
      fields: {
        key: { type: "bytes", id: 1 },
        rangeEnd: { type: "string", id: 2 },
        limit: { type: "int64", id: 3 },
        revision: { type: "int64", id: 4 },
        keysOnly: { type: "bool", id: 8 },
      },
    },
    RangeResponse: {
      fields: {
        header: { type: "ResponseHeader", id: 1 },
        kvs: { rule: "repeated", type: "KeyValue", id: 2 },
        more: { type: "bool", id: 3 },
      },
    },
    PutRequest: {
      fields: {
        key: { type: "string", id: 1 },
        value: { type: "bytes", id: 2 },
        lease: { type: "int64", id: 3 },
      },
    },
    DeleteRangeRequest: { fields: { key: { type: "string", id: 1 } } },
    DeleteRangeResponse: { fields: { deleted: { type: "int64", id: 2 } } },
    RequestOp: {
      oneofs: { request: { oneof: ["range", "put", "deleteRange"] } },
      fields: {
        range: { type: "RangeRequest", id: 1 },
        put: { type: "PutRequest", id: 2 },
        deleteRange: { type: "DeleteRangeRequest", id: 3 },
      },
    },
    ResponseOp: {
      oneofs: { response: { oneof: ["range", "deleteRange"] } },
      fields: { range: { type: "RangeResponse", id: 1 }, deleteRange: { type: "DeleteRangeResponse", id: 3 } },
    },
    Compare: {
      oneofs: { targetUnion: { oneof: ["version", "modRevision"] } },
      fields: {
        result: { type: "int32", id: 1 },
        target: { type: "int32", id: 2 },
        key: { type: "string", id: 3 },
        version: { type: "int64", id: 4 },
        modRevision: { type: "int64", id: 6 },
      },
    },
    TxnRequest: {
      fields: {
        compare: { rule: "repeated", type: "Compare", id: 1 },
        success: { rule: "repeated", type: "RequestOp", id: 2 },
        failure: { rule: "repeated", type: "RequestOp", id: 3 },
      },
    },
    TxnResponse: {
      fields: {
        header: { type: "ResponseHeader", id: 1 },
        succeeded: { type: "bool", id: 2 },
        responses: { rule: "repeated", type: "ResponseOp", id: 3 },
      },
    },
    CompactionRequest: { fields: { revision: { type: "int64", id: 1 } } },
    CompactionResponse: { fields: { header: { type: "ResponseHeader", id: 1 } } },
    LeaseGrantRequest: { fields: { ttl: { type: "int64", id: 1 }, id: { type: "int64", id: 2 } } },
    LeaseGrantResponse: { fields: { header: { type: "ResponseHeader", id: 1 }, ttl: { type: "int64", id: 3 } } },
    StatusRequest: { fields: {} },
    StatusResponse: {
      fields: {
        header: { type: "ResponseHeader", id: 1 },
        version: { type: "string", id: 2 },
        dbSize: { type: "int64", id: 3 },
        isLearner: { type: "bool", id: 10 },
      },
    },
    WatchRequest: { fields: { createRequest: { type: "WatchCreateRequest", id: 1 } } },
    WatchCreateRequest: {
      fields: {
        key: { type: "string", id: 1 },
        rangeEnd: { type: "string", id: 2 },
        startRevision: { type: "int64", id: 3 },
        prevKv: { type: "bool", id: 6 },
        fragment: { type: "bool", id: 8 },
      },
    },
    WatchResponse: {
      fields: {
        header: { type: "ResponseHeader", id: 1 },
        created: { type: "bool", id: 3 },
        canceled: { type: "bool", id: 4 },
        compactRevision: { type: "int64", id: 5 },
        cancelReason: { type: "string", id: 6 },
        fragment: { type: "bool", id: 7 },
        events: { rule: "repeated", type: "Event", id: 11 },
      },
    },
    Event: {
      fields: {
        type: { type: "int32", id: 1 },
        kv: { type: "KeyValue", id: 2 },
        prevKv: { type: "KeyValue", id: 3 },
      },
    },
  },
};

const root = Root.fromJSON(definition);

/** A 64-bit number as protobufjs decodes it. Revisions, sizes and times are below 2^53. */
export type Int64 = number | { toNumber(): number; toString(): string };

export function numberOf(value: Int64): number {
  return typeof value === "number" ? value : value.toNumber();
}

export interface ResponseHeader {
  readonly clusterId: Int64;
  readonly memberId: Int64;
  readonly revision: Int64;
}

export interface KeyValue {
  /** Those of other programs need not be text. */
  readonly key: Buffer;
  readonly createRevision: Int64;
  readonly modRevision: Int64;
  readonly version: Int64;
  readonly value: Uint8Array;
}

export interface RangeRequest {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly limit?: number;
  readonly revision?: number;
  readonly serializable?: boolean;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
}

/** A RangeRequest whose key need not be text. */
export interface PageRequest {
  readonly key: Uint8Array;
  readonly rangeEnd: string;
  readonly limit: number;
  readonly revision: number;
  readonly keysOnly?: boolean;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

export type RequestOp =
  | { readonly range: RangeRequest }
  | { readonly put: { readonly key: string; readonly value: Uint8Array; readonly lease?: number } }
  | { readonly deleteRange: { readonly key: string } };

/** Numbers of `Compare.result` and `Compare.target`. */
export const compareResult = { equal: 0, notEqual: 3 } as const;
export const compareTarget = { version: 0, modRevision: 2 } as const;

export interface Compare {
  readonly result: number;
  readonly target: number;
  readonly key: string;
  readonly version?: number;
  readonly modRevision?: number;
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly range?: RangeResponse | null }[];
}

/** Numbers of `Event.type`. */
export const eventType = { put: 0, delete: 1 } as const;

export interface WatchEvent {
  readonly type: number;
  readonly kv: KeyValue;
  readonly prevKv: KeyValue | null;
}

export interface WatchCreateRequest {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly startRevision: number;
  readonly prevKv?: boolean;
  readonly fragment?: boolean;
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: Int64;
  readonly cancelReason: string;
  /** Whether the next response continues this one. */
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

export interface StatusResponse {
  readonly header: ResponseHeader;
  readonly version: string;
  /** Size of the database in bytes. */
  readonly dbSize: Int64;
  /** Whether the member does not vote yet. It answers no linearizable reads. */
  readonly isLearner: boolean;
}

/** Fields of messages that are not sent have their zero values after decoding. */
interface Messages {
  RangeRequest: RangeRequest;
  PageRequest: PageRequest;
  RangeResponse: RangeResponse;
  TxnRequest: TxnRequest;
  TxnResponse: TxnResponse;
  CompactionRequest: { readonly revision: number };
  CompactionResponse: { readonly header: ResponseHeader };
  LeaseGrantRequest: { readonly ttl: number; readonly id: number };
  LeaseGrantResponse: { readonly header: ResponseHeader; readonly ttl: Int64 };
  StatusRequest: object;
  StatusResponse: StatusResponse;
  WatchRequest: { readonly createRequest: WatchCreateRequest };
  WatchResponse: WatchResponse;
}

interface MessageCodec<Message> {
  encode(message: Message): Uint8Array;
  /** @throws Error for bytes that are not a message */
  decode(bytes: Uint8Array): Message;
}

/** Messages are encoded one after the other, into a buffer that is used again unless it has become large. */
let writer = Writer.create();
const writerBytesMax = 64 * 1024;

function codec<Name extends keyof Messages>(name: Name): MessageCodec<Messages[Name]> {
  const type = root.lookupType(name);
  return {
    encode(message) {
      if (writer.len > writerBytesMax) writer = Writer.create();
      return type.encode(message as Record<string, unknown>, writer.reset()).finish();
    },
    decode: (bytes) => type.decode(bytes) as unknown as Messages[Name],
  };
}

export interface Method<Request, Response> {
  readonly path: string;
  readonly request: MessageCodec<Request>;
  readonly response: MessageCodec<Response>;
}

function method<In extends keyof Messages, Out extends keyof Messages>(
  path: string,
  request: In,
  response: Out,
): Method<Messages[In], Messages[Out]> {
  return { path: `/etcdserverpb.${path}`, request: codec(request), response: codec(response) };
}

export const methods = {
  range: method("KV/Range", "RangeRequest", "RangeResponse"),
  page: method("KV/Range", "PageRequest", "RangeResponse"),
  txn: method("KV/Txn", "TxnRequest", "TxnResponse"),
  compact: method("KV/Compact", "CompactionRequest", "CompactionResponse"),
  leaseGrant: method("Lease/LeaseGrant", "LeaseGrantRequest", "LeaseGrantResponse"),
  status: method("Maintenance/Status", "StatusRequest", "StatusResponse"),
  watch: method("Watch/Watch", "WatchRequest", "WatchResponse"),
} as const;
