import { type MemberId, toMemberId } from "../core/ids.ts";
import { ByteReader, ProtocolError } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { HandshakeRefusal } from "./transport.ts";

/** Version of everything sent over a connection. */
export const protocolVersion = 1;
const magic = Buffer.from("raft");
const clusterIdBytesMax = 256;

/**
 * The purpose of a connection. Entries and proposals go on `bulk`. Small messages go on `control`, so that a heartbeat
 * never waits behind a megabyte of entries.
 */
export const connectionKinds = ["control", "bulk", "snapshot"] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

/** One running process of a member. */
export interface Incarnation {
  /** Number of times the member's log was opened. */
  readonly starts: number;
  /** Random value drawn at each start. */
  readonly nonce: string;
}

/** The first frame of each side: the connecting side, then the accepting one. */
export interface Hello {
  readonly kind: ConnectionKind;
  readonly clusterId: string;
  readonly from: MemberId;
  readonly to: MemberId;
  readonly incarnation: Incarnation;
}

export type HandshakeReply = { readonly hello: Hello } | { readonly refusal: HandshakeRefusal };

const refusals = ["version", "wrongCluster", "wrongMember", "certificate", "unknown", "removed", "twin"] as const;

export function encodeHello(hello: Hello): Buffer {
  const bytes = new ByteWriter(256);
  bytes.raw(magic);
  bytes.byte(protocolVersion);
  bytes.byte(0);
  bytes.byte(connectionKinds.indexOf(hello.kind));
  bytes.text(hello.clusterId);
  bytes.count(hello.from);
  bytes.count(hello.to);
  bytes.count(hello.incarnation.starts);
  bytes.text(hello.incarnation.nonce);
  return bytes.take();
}

export function encodeRefusal(refusal: HandshakeRefusal): Buffer {
  const bytes = new ByteWriter(16);
  bytes.raw(magic);
  bytes.byte(protocolVersion);
  bytes.byte(1 + refusals.indexOf(refusal));
  return bytes.take();
}

/** Decodes a handshake. Returns a refusal for another version. @throws ProtocolError for anything else */
export function decodeHandshake(frame: Buffer): HandshakeReply {
  const from = new ByteReader(frame);
  if (!from.raw(magic.length).equals(magic)) throw new ProtocolError("this is not a handshake");
  const version = from.byte();
  const verdict = from.byte();
  if (verdict > 0) return { refusal: refusals[verdict - 1] ?? "version" };
  if (version !== protocolVersion) return { refusal: "version" };
  const kind = connectionKinds[from.byte()];
  if (kind === undefined) throw new ProtocolError("this kind of connection is unknown");
  const clusterId = from.text(clusterIdBytesMax);
  const [sender, receiver] = [toMemberId(from.count()), toMemberId(from.count())];
  const incarnation = { starts: from.count(), nonce: from.text(64) };
  from.end();
  return { hello: { kind, clusterId, from: sender, to: receiver, incarnation } };
}
