import type { Entry, EntryKind } from "../core/entry.ts";
import {
  type Index,
  type MemberId,
  noMember,
  type Term,
  toIndex,
  toMemberId,
  toRequestId,
  toTerm,
} from "../core/ids.ts";
import type { Membership } from "../core/membership.ts";
import type { Message, MessageType, ProposalOutcome, ReadOutcome } from "../core/message.ts";
import type { Refusal } from "../core/refusal.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";
import { ByteReader, ProtocolError } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";

/**
 * Message types. A message is encoded as its type, from, to and term, then the fields of its type in the order of
 * `core/message.ts`. Positions in these tables are the numbers on the wire: append new ones at the end. A change of
 * meaning needs a new `protocolVersion` (`handshake.ts`).
 */
const messageTypes = [
  "preVote",
  "preVoteReply",
  "vote",
  "voteReply",
  "append",
  "appendAccepted",
  "appendRejected",
  "heartbeat",
  "heartbeatReply",
  "snapshot",
  "timeoutNow",
  "propose",
  "proposeReply",
  "readIndex",
  "readIndexReply",
] as const satisfies readonly MessageType[];
/** Fails to compile when a message type has no number. */
const everyTypeHasANumber: Exclude<MessageType, (typeof messageTypes)[number]> extends never ? true : never = true;

const entryKinds = ["normal", "confChange", "empty"] as const satisfies readonly EntryKind[];

const refusals = [
  "noLeader",
  "transferring",
  "tooManyBytes",
  "tooManyReads",
  "removed",
  "changePending",
  "notAMember",
  "alreadyAMember",
  "notALearner",
  "notAVoter",
  "noChange",
  "behind",
  "quorumLost",
  "logFull",
] as const satisfies readonly Refusal[];
const everyRefusalHasANumber: Exclude<Refusal, (typeof refusals)[number]> extends never ? true : never = true;

/** Limit of the members in a message, more than any cluster has. */
const membersMax = 1000;

export function encodeMessage(message: Message, to: ByteWriter): void {
  to.byte(messageTypes.indexOf(message.type));
  to.count(message.from);
  to.count(message.to);
  to.count(message.term);
  switch (message.type) {
    case "preVote":
      to.count(message.lastIndex);
      to.count(message.lastTerm);
      return;
    case "vote":
      to.count(message.lastIndex);
      to.count(message.lastTerm);
      to.byte(message.transfer ? 1 : 0);
      return;
    case "preVoteReply":
    case "voteReply":
      to.byte(message.granted ? 1 : 0);
      return;
    case "append":
      to.count(message.prevIndex);
      to.count(message.prevTerm);
      to.count(message.commit);
      encodeEntries(message.entries, to);
      return;
    case "appendAccepted":
      to.count(message.index);
      return;
    case "appendRejected":
      to.count(message.prevIndex);
      to.count(message.hintIndex);
      to.count(message.hintTerm);
      return;
    case "heartbeat":
      to.count(message.commit);
      to.count(message.round);
      return;
    case "heartbeatReply":
      to.count(message.round);
      return;
    case "snapshot":
      encodeSnapshot(message.snapshot, to);
      return;
    case "timeoutNow":
      return;
    case "propose":
      to.count(message.id);
      to.bytes(message.data);
      return;
    case "proposeReply":
      to.count(message.id);
      encodeProposalOutcome(message.outcome, to);
      return;
    case "readIndex":
      to.count(message.id);
      return;
    case "readIndexReply":
      to.count(message.id);
      encodeReadOutcome(message.outcome, to);
  }
}

/**
 * Decodes a message. Entries and data are mostly views of `bytes`. @throws ProtocolError, RangeError unless `bytes` is
 * exactly one message
 */
export function decodeMessage(bytes: Buffer | readonly Buffer[]): Message {
  const from = new ByteReader(bytes);
  const message = readMessage(from);
  from.end();
  return message;
}

function readMessage(from: ByteReader): Message {
  const type = place(messageTypes, from.byte());
  const envelope = { from: member(from), to: member(from), term: term(from) };
  switch (type) {
    case "preVote":
      return { type, ...envelope, lastIndex: index(from), lastTerm: term(from) };
    case "vote":
      return { type, ...envelope, lastIndex: index(from), lastTerm: term(from), transfer: flag(from) };
    case "preVoteReply":
    case "voteReply":
      return { type, ...envelope, granted: flag(from) };
    case "append":
      return { type, ...envelope, ...readAppend(from) };
    case "appendAccepted":
      return { type, ...envelope, index: index(from) };
    case "appendRejected":
      return { type, ...envelope, prevIndex: index(from), hintIndex: index(from), hintTerm: term(from) };
    case "heartbeat":
      return { type, ...envelope, commit: index(from), round: from.count() };
    case "heartbeatReply":
      return { type, ...envelope, round: from.count() };
    case "snapshot":
      return { type, ...envelope, snapshot: readSnapshot(from) };
    case "timeoutNow":
      return { type, ...envelope };
    case "propose":
      return { type, ...envelope, id: toRequestId(from.count()), data: from.bytes() };
    case "proposeReply":
      return { type, ...envelope, id: toRequestId(from.count()), outcome: readProposalOutcome(from) };
    case "readIndex":
      return { type, ...envelope, id: toRequestId(from.count()) };
    case "readIndexReply":
      return { type, ...envelope, id: toRequestId(from.count()), outcome: readReadOutcome(from) };
  }
}

/** Encodes entries without their indexes, which the first one determines. */
function encodeEntries(entries: readonly Entry[], to: ByteWriter): void {
  to.count(entries.length);
  for (const entry of entries) {
    to.byte(entryKinds.indexOf(entry.kind));
    to.count(entry.term);
    to.bytes(entry.data);
  }
}

function readAppend(from: ByteReader) {
  const prevIndex = index(from);
  const prevTerm = term(from);
  const commit = index(from);
  const count = from.count();
  // An entry takes at least three bytes. Reject a higher count before allocating memory.
  if (count * 3 > from.rest) throw new ProtocolError("an append is truncated");
  const entries: Entry[] = [];
  for (let position = 1; position <= count; position++) {
    const kind = place(entryKinds, from.byte());
    entries.push({ index: toIndex(prevIndex + position), term: term(from), kind, data: from.bytes() });
  }
  return { prevIndex, prevTerm, commit, entries };
}

export function encodeSnapshot(snapshot: SnapshotMeta, to: ByteWriter): void {
  const { voters, outgoing, learners, learnersNext } = snapshot.membership;
  to.count(snapshot.index);
  to.count(snapshot.term);
  for (const list of [voters, outgoing, learners, learnersNext]) {
    to.count(list.length);
    for (const one of list) to.count(one);
  }
}

export function readSnapshot(from: ByteReader): SnapshotMeta {
  return { index: index(from), term: term(from), membership: readMembership(from) };
}

function readMembership(from: ByteReader): Membership {
  const list = (): MemberId[] => {
    const count = from.count();
    if (count > membersMax) throw new ProtocolError(`a membership of ${count} is too large`);
    return Array.from({ length: count }, () => toMemberId(from.count()));
  };
  return { voters: list(), outgoing: list(), learners: list(), learnersNext: list() };
}

function encodeProposalOutcome(outcome: ProposalOutcome, to: ByteWriter): void {
  switch (outcome.kind) {
    case "appended":
      to.byte(0);
      to.count(outcome.index);
      to.count(outcome.term);
      return;
    case "refused":
      to.byte(1);
      to.byte(refusals.indexOf(outcome.reason));
  }
}

function readProposalOutcome(from: ByteReader): ProposalOutcome {
  if (flag(from)) return { kind: "refused", reason: place(refusals, from.byte()) };
  return { kind: "appended", index: index(from), term: term(from) };
}

function encodeReadOutcome(outcome: ReadOutcome, to: ByteWriter): void {
  switch (outcome.kind) {
    case "confirmed":
      to.byte(0);
      to.count(outcome.index);
      return;
    case "refused":
      to.byte(1);
      to.byte(refusals.indexOf(outcome.reason));
  }
}

function readReadOutcome(from: ByteReader): ReadOutcome {
  if (flag(from)) return { kind: "refused", reason: place(refusals, from.byte()) };
  return { kind: "confirmed", index: index(from) };
}

function index(from: ByteReader): Index {
  return toIndex(from.count());
}

function term(from: ByteReader): Term {
  return toTerm(from.count());
}

function member(from: ByteReader): MemberId {
  const count = from.count();
  return count === 0 ? noMember : toMemberId(count);
}

function flag(from: ByteReader): boolean {
  const byte = from.byte();
  if (byte > 1) throw new ProtocolError(`${byte} is neither yes nor no`);
  return byte === 1;
}

function place<T>(table: readonly T[], position: number): T {
  const found = table[position];
  if (found === undefined) throw new ProtocolError(`${position} is unknown here`);
  return found;
}

void everyTypeHasANumber;
void everyRefusalHasANumber;
