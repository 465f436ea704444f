import { crc32 } from "node:zlib";
import type { InstallSnapshot } from "../core/message.ts";
import { ByteReader, ProtocolError } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { decodeMessage, encodeMessage } from "./message-codec.ts";

/**
 * The frames of a snapshot over its own connection:
 *
 *     sender → receiver   begin (which, and whose)      receiver → sender   resume at this byte
 *                         chunk … chunk                                     taken up to this byte …
 *                         end (length, digest)                              installed, or failed and why
 *
 * When the connection breaks, the sender connects again and begins with the same transfer id. The receiver replies with
 * the byte to resume at.
 */
export type SnapshotFrame =
  | { readonly kind: "begin"; readonly transfer: string; readonly message: InstallSnapshot }
  | { readonly kind: "chunk"; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "end"; readonly length: number; readonly digest: Buffer }
  | { readonly kind: "resume"; readonly offset: number }
  | { readonly kind: "taken"; readonly offset: number }
  | { readonly kind: "installed" }
  | { readonly kind: "failed"; readonly reason: string };

const kinds = ["begin", "chunk", "end", "resume", "taken", "installed", "failed"] as const;
const digestBytes = 32;
const transferBytesMax = 64;
const reasonBytesMax = 1024;

export const chunkBytesMax = 256 << 10;
/** Maximum number of bytes in flight that the receiver has not taken. */
export const windowBytes = 4 << 20;

export function encodeSnapshotFrame(frame: SnapshotFrame): Buffer {
  const bytes = new ByteWriter(frame.kind === "chunk" ? frame.bytes.length + 32 : 256);
  bytes.byte(kinds.indexOf(frame.kind));
  switch (frame.kind) {
    case "begin":
      bytes.text(frame.transfer);
      encodeMessage(frame.message, bytes);
      break;
    case "chunk":
      bytes.count(frame.offset);
      bytes.u32(crc32(frame.bytes));
      bytes.raw(frame.bytes);
      break;
    case "end":
      bytes.count(frame.length);
      bytes.raw(frame.digest);
      break;
    case "resume":
    case "taken":
      bytes.count(frame.offset);
      break;
    case "installed":
      break;
    case "failed":
      bytes.text(frame.reason.slice(0, reasonBytesMax / 4));
  }
  return bytes.take();
}

/** Decodes a frame. @throws ProtocolError, also for a chunk with a wrong checksum */
export function decodeSnapshotFrame(frame: Buffer): SnapshotFrame {
  const from = new ByteReader(frame);
  const kind = kinds[from.byte()];
  if (kind === undefined) throw new ProtocolError("a frame of a snapshot is of an unknown kind");
  switch (kind) {
    case "begin": {
      const transfer = from.text(transferBytesMax);
      const message = decodeMessage(from.raw(from.rest));
      if (message.type !== "snapshot") throw new ProtocolError("a snapshot begins with another message");
      return { kind, transfer, message };
    }
    case "chunk": {
      const offset = from.count();
      const checksum = from.raw(4).readUInt32LE(0);
      const bytes = from.raw(from.rest);
      if (crc32(bytes) !== checksum) throw new ProtocolError("a part of a snapshot is damaged");
      return { kind, offset, bytes };
    }
    case "end":
      return { kind, length: from.count(), digest: from.raw(digestBytes) };
    case "resume":
    case "taken":
      return { kind, offset: from.count() };
    case "installed":
      return { kind };
    case "failed":
      return { kind, reason: from.text(reasonBytesMax) };
  }
}
