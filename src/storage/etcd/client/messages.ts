import { Writer } from "protobufjs/light.js";
import { messageTypes } from "../../../api/codec/message-table.ts";

/** The messages of etcd's API (rpc.proto, kv.proto) that the store uses. Fields that it does not use are left out. */
const root = messageTypes({
  ResponseHeader: { clusterId: [1, "uint64"], memberId: [2, "uint64"], revision: [3, "int64"] },
  KeyValue: {
    key: [1, "bytes"],
    createRevision: [2, "int64"],
    modRevision: [3, "int64"],
    version: [4, "int64"],
    value: [5, "bytes"],
  },
  RangeRequest: {
    key: [1, "string"],
    rangeEnd: [2, "string"],
    limit: [3, "int64"],
    revision: [4, "int64"],
    keysOnly: [8, "bool"],
  },
  PageRequest: {
    key: [1, "bytes"],
    rangeEnd: [2, "string"],
    limit: [3, "int64"],
    revision: [4, "int64"],
    keysOnly: [8, "bool"],
  },
  RangeResponse: { header: [1, "ResponseHeader"], kvs: [2, "KeyValue", "list"], more: [3, "bool"] },
  PutRequest: { key: [1, "string"], value: [2, "bytes"], lease: [3, "int64"] },
  DeleteRangeRequest: { key: [1, "string"] },
  RequestOp: { range: [1, "RangeRequest"], put: [2, "PutRequest"], deleteRange: [3, "DeleteRangeRequest"] },
  ResponseOp: { range: [1, "RangeResponse"] },
  Compare: {
    result: [1, "int32"],
    target: [2, "int32"],
    key: [3, "string"],
    version: [4, "int64", "optional"],
    modRevision: [6, "int64", "optional"],
  },
  TxnRequest: { compare: [1, "Compare", "list"], success: [2, "RequestOp", "list"], failure: [3, "RequestOp", "list"] },
  TxnResponse: { header: [1, "ResponseHeader"], succeeded: [2, "bool"], responses: [3, "ResponseOp", "list"] },
  CompactionRequest: { revision: [1, "int64"] },
  LeaseGrantRequest: { ttl: [1, "int64"], id: [2, "int64"] },
  StatusResponse: {
    header: [1, "ResponseHeader"],
    version: [2, "string"],
    dbSize: [3, "int64"],
    isLearner: [10, "bool"],
  },
  Empty: {},
  WatchRequest: { createRequest: [1, "WatchCreateRequest"] },
  WatchCreateRequest: {
    key: [1, "string"],
    rangeEnd: [2, "string"],
    startRevision: [3, "int64"],
    prevKv: [6, "bool"],
    fragment: [8, "bool"],
  },
  WatchResponse: {
    header: [1, "ResponseHeader"],
    created: [3, "bool"],
    canceled: [4, "bool"],
    compactRevision: [5, "int64"],
    cancelReason: [6, "string"],
    fragment: [7, "bool"],
    events: [11, "Event", "list"],
  },
  Event: { type: [1, "int32"], kv: [2, "KeyValue"], prevKv: [3, "KeyValue"] },
});

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
  readonly keysOnly?: boolean;
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
  LeaseGrantRequest: { readonly ttl: number; readonly id: number };
  StatusResponse: StatusResponse;
  /** A request without fields, or a response of which no field is used. */
  Empty: object;
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
  compact: method("KV/Compact", "CompactionRequest", "Empty"),
  leaseGrant: method("Lease/LeaseGrant", "LeaseGrantRequest", "Empty"),
  status: method("Maintenance/Status", "Empty", "StatusResponse"),
  watch: method("Watch/Watch", "WatchRequest", "WatchResponse"),
} as const;
