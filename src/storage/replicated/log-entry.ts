import { type Revision, toRevision } from "../../api/revision.ts";
import type { MemberNumber, MemberRecord } from "../cluster.ts";
import { encodeIndexText, type IndexCache } from "../mvcc/index-text.ts";
import { uidOf } from "../object-uid.ts";
import type { BatchId } from "../sessions.ts";
import type { Command, Expect, Operation, Premise, ProposedBody } from "../store.ts";

/**
 * The newest known format. A replica must stop at an entry of a higher one. Additions that older programs may ignore do
 * not raise it, because in a rolling upgrade a newer member may lead older ones.
 */
const formatVersion = 1;
const kinds = { commands: 1, decision: 2 } as const;
const expectKinds = ["absent", "revision", "any"] as const;
const deleteFlag = 0x10;
const premisesFlag = 0x20;
const headerBytes = 2;
const commandHeaderBytes = 1 + 8 + 2 + 4 + 4 + 4 + 4;
const premiseHeaderBytes = 8 + 2;

/** Changes to the store as a whole, not to an object. Applying one twice has no further effect. */
export type Decision =
  | { readonly kind: "compact"; readonly revision: Revision }
  /** The number 0 asks for the next free one. */
  | { readonly kind: "member"; readonly member: MemberRecord }
  | { readonly kind: "forgetMember"; readonly id: MemberNumber }
  /** The hash of the proposer's state at an index. Every replica must have had the same. */
  | { readonly kind: "verify"; readonly index: number; readonly revision: Revision; readonly hash: number };

/** The entry comes from a newer version, or not from this program. It can neither be applied nor skipped. */
export class UnknownLogEntryError extends Error {
  override readonly name = "UnknownLogEntryError";
}

/**
 * The content of one entry of the log:
 *
 *     format · kind 1 · length of id · id (JSON) · number of commands, and for each
 *         expectation and operation · expected revision · length of key · of uid · of rest of index · of prefix · of suffix
 *         key · uid · rest of index · prefix · suffix
 *         and if it has premises: their number, and for each its revision · length of key · key
 *     format · kind 2 · length of id · id (JSON) · decision (JSON)
 */
export function encodeCommands(id: BatchId, commands: readonly Command[]): Uint8Array {
  const texts = commands.map(textsOf);
  const idText = JSON.stringify(id);
  let size = headerBytes + 4 + idText.length + 4;
  commands.forEach((command, position) => {
    const { prefix, suffix } = bodyOf(command.operation);
    const { keyBytes, uidBytes, restBytes } = texts[position] as CommandTexts;
    size += commandHeaderBytes + keyBytes + uidBytes + restBytes + prefix.byteLength + suffix.byteLength;
    size += premisesBytes(command.premises);
  });
  const writer = new Writer(size);
  writer.header(kinds.commands, idText);
  writer.uint32(commands.length);
  commands.forEach((command, position) => writeCommand(writer, command, texts[position] as CommandTexts));
  return writer.bytes;
}

export function encodeDecision(id: BatchId, decision: Decision): Uint8Array {
  const idText = JSON.stringify(id);
  const text = JSON.stringify(decision);
  const writer = new Writer(headerBytes + 4 + idText.length + Buffer.byteLength(text));
  writer.header(kinds.decision, idText);
  writer.text(text);
  return writer.bytes;
}

/** An entry whose id is decoded. The rest is decoded on demand, because the proposer still has its commands. */
export class LogEntry {
  readonly id: BatchId;
  readonly #reader: Reader;
  readonly #kind: number;

  /** @throws UnknownLogEntryError */
  constructor(data: Uint8Array) {
    this.#reader = new Reader(data);
    const format = this.#reader.uint8();
    if (format !== formatVersion) throw new UnknownLogEntryError(`an entry of the log has format ${format}`);
    this.#kind = this.#reader.uint8();
    if (this.#kind !== kinds.commands && this.#kind !== kinds.decision) {
      throw new UnknownLogEntryError(`an entry of the log is of kind ${this.#kind}`);
    }
    this.id = JSON.parse(this.#reader.text(this.#reader.uint32())) as BatchId;
  }

  get isDecision(): boolean {
    return this.#kind === kinds.decision;
  }

  /** Decodes the commands. Call it once. Bodies are views of the entry's bytes. */
  commands(indexes: IndexCache): Command[] {
    const count = this.#reader.uint32();
    const commands: Command[] = [];
    while (commands.length < count) commands.push(readCommand(this.#reader, indexes));
    return commands;
  }

  /** Decodes the decision. Call it once. @throws UnknownLogEntryError */
  decision(): Decision {
    const decision = JSON.parse(this.#reader.rest()) as Decision;
    switch (decision.kind) {
      case "compact":
        return { ...decision, revision: toRevision(decision.revision) };
      case "verify":
      case "member":
      case "forgetMember":
        return decision;
      default:
        throw new UnknownLogEntryError(`an entry of the log decides ${JSON.stringify((decision as Decision).kind)}`);
    }
  }
}

interface CommandTexts {
  readonly uid: string;
  readonly rest: string;
  readonly keyBytes: number;
  readonly uidBytes: number;
  readonly restBytes: number;
}

function textsOf({ key, operation }: Command): CommandTexts {
  const uid = operation.kind === "put" ? uidOf({ index: operation.index, body: operation.body.prefix }) : "";
  const rest = operation.kind === "put" ? encodeIndexText(operation.index) : "";
  const keyBytes = Buffer.byteLength(key);
  return { uid, rest, keyBytes, uidBytes: Buffer.byteLength(uid), restBytes: Buffer.byteLength(rest) };
}

function bodyOf(operation: Operation): ProposedBody {
  return operation.kind === "put" ? operation.body : operation.last;
}

function premisesBytes(premises: Command["premises"]): number {
  if (premises === undefined) return 0;
  return premises.reduce((size, { key }) => size + premiseHeaderBytes + Buffer.byteLength(key), 1);
}

function writeCommand(writer: Writer, { key, expect, premises, operation }: Command, texts: CommandTexts): void {
  const { prefix, suffix } = bodyOf(operation);
  const flags = (operation.kind === "delete" ? deleteFlag : 0) | (premises === undefined ? 0 : premisesFlag);
  writer.uint8(expectKinds.indexOf(expect.kind) | flags);
  writer.revision(expect.kind === "revision" ? expect.revision : 0);
  writer.uint16(texts.keyBytes);
  writer.uint32(texts.uidBytes);
  writer.uint32(texts.restBytes);
  writer.uint32(prefix.byteLength);
  writer.uint32(suffix.byteLength);
  writer.text(key);
  writer.text(texts.uid);
  writer.text(texts.rest);
  writer.blob(prefix);
  writer.blob(suffix);
  if (premises === undefined) return;
  writer.uint8(premises.length);
  for (const premise of premises) {
    writer.revision(premise.revision);
    writer.uint16(Buffer.byteLength(premise.key));
    writer.text(premise.key);
  }
}

function readCommand(reader: Reader, indexes: IndexCache): Command {
  const flags = reader.uint8();
  const revision = reader.revision();
  const keyBytes = reader.uint16();
  const uidBytes = reader.uint32();
  const restBytes = reader.uint32();
  const prefixBytes = reader.uint32();
  const suffixBytes = reader.uint32();
  const key = reader.text(keyBytes);
  const uid = reader.text(uidBytes);
  const rest = reader.text(restBytes);
  const body = { prefix: reader.blob(prefixBytes), suffix: reader.blob(suffixBytes) };
  const operation: Operation =
    (flags & deleteFlag) === 0
      ? { kind: "put", index: indexes.index(uid, rest, body.prefix, body.suffix), body }
      : { kind: "delete", last: body };
  const expect = expectOf(flags & ~(deleteFlag | premisesFlag), revision);
  return (flags & premisesFlag) === 0
    ? { key, expect, operation }
    : { key, expect, premises: readPremises(reader), operation };
}

function readPremises(reader: Reader): Premise[] {
  const premises: Premise[] = [];
  for (let left = reader.uint8(); left > 0; left--) {
    const revision = toRevision(reader.revision());
    premises.push({ key: reader.text(reader.uint16()), revision });
  }
  return premises;
}

function expectOf(kindNumber: number, revision: number): Expect {
  const kind = expectKinds[kindNumber];
  if (kind === undefined) throw new UnknownLogEntryError(`a command of the log expects ${kindNumber}`);
  return kind === "revision" ? { kind, revision: toRevision(revision) } : { kind };
}

class Writer {
  readonly bytes: Buffer;
  #at = 0;

  constructor(size: number) {
    // Allocate separate memory. Bytes from the pool would keep their neighbours alive as long as the log.
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  header(kind: number, idText: string): void {
    this.uint8(formatVersion);
    this.uint8(kind);
    this.uint32(Buffer.byteLength(idText));
    this.text(idText);
  }

  uint8(value: number): void {
    this.#at = this.bytes.writeUInt8(value, this.#at);
  }

  uint16(value: number): void {
    this.#at = this.bytes.writeUInt16BE(value, this.#at);
  }

  uint32(value: number): void {
    this.#at = this.bytes.writeUInt32BE(value, this.#at);
  }

  revision(value: number): void {
    this.uint32(Math.floor(value / 2 ** 32));
    this.uint32(value % 2 ** 32);
  }

  text(value: string): void {
    this.#at += this.bytes.write(value, this.#at);
  }

  blob(value: Uint8Array): void {
    this.bytes.set(value, this.#at);
    this.#at += value.byteLength;
  }
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(data: Uint8Array) {
    this.#bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  }

  uint8(): number {
    return this.#bytes.readUInt8(this.#advance(1));
  }

  uint16(): number {
    return this.#bytes.readUInt16BE(this.#advance(2));
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#advance(4));
  }

  revision(): number {
    return this.uint32() * 2 ** 32 + this.uint32();
  }

  text(length: number): string {
    const at = this.#advance(length);
    return this.#bytes.toString("utf8", at, at + length);
  }

  rest(): string {
    return this.text(this.#bytes.length - this.#at);
  }

  blob(length: number): Uint8Array {
    const at = this.#advance(length);
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + at, length);
  }

  #advance(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new UnknownLogEntryError("an entry of the log is truncated");
    return at;
  }
}
