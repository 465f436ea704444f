import { Encoder } from "cbor-x/index-no-eval";
import { objectOf } from "../../api/json-reading.ts";
import { type InvalidationSubject, invalidationSubjects, type ReplicaHealth } from "./gossip.ts";

/**
 * The author and order of a message. `incarnation` grows with every start of the author, `sequence` with every message.
 */
export interface Envelope {
  readonly member: number;
  readonly incarnation: number;
  readonly sequence: number;
}

export interface Heartbeat extends Envelope {
  readonly health: ReplicaHealth;
}

export interface Invalidation extends Envelope {
  readonly subject: InvalidationSubject;
}

/**
 * Maximum size of a message, which is CBOR. Unknown fields of a later version are ignored. A version that changes the
 * meaning of a field has its own topics.
 */
export const messageBytesMax = 8 * 1_024;

const failingMax = 16;
const endpointsMax = 8;
const textLengthMax = 200;
const plainText = /^[\x20-\x7e]*$/;

/** Without the native part of the library, which crashes the process on some malformed input. */
const cbor = new Encoder({ useRecords: false, mapsAsObjects: true });
/** First byte of the JSON messages of earlier builds. No CBOR map starts with it. */
const openBrace = 0x7b;

/** Encodes a heartbeat. Omits values beyond the limits of a message. */
export function encodeHeartbeat({ health, ...envelope }: Heartbeat): Uint8Array {
  const { failing, endpoints, release, leader, ...rest } = health;
  const kept = {
    ...rest,
    leader: leader ?? null,
    failing: failing.filter(isText).slice(0, failingMax),
    endpoints: endpoints.filter(isText).slice(0, endpointsMax),
    release: isText(release) ? release : "",
  };
  return cbor.encode({ ...envelope, ...kept });
}

export function encodeInvalidation(invalidation: Invalidation): Uint8Array {
  return cbor.encode(invalidation);
}

/** Parses a heartbeat, or returns undefined. */
export function parseHeartbeat(bytes: Uint8Array): Heartbeat | undefined {
  const { envelope, fields } = parseEnvelope(bytes);
  if (envelope === undefined) return undefined;
  const { revision, appliedIndex, ready, failing, term, leader, endpoints, release } = fields;
  const isHealth =
    isCount(revision) &&
    isCount(appliedIndex) &&
    typeof ready === "boolean" &&
    isTexts(failing, failingMax) &&
    isCount(term) &&
    (leader === null || isMember(leader)) &&
    isTexts(endpoints, endpointsMax) &&
    isText(release);
  if (!isHealth) return undefined;
  const health = { revision, appliedIndex, ready, failing, term, leader: leader ?? undefined, endpoints, release };
  return { ...envelope, health };
}

/** Parses an invalidation, or returns undefined. */
export function parseInvalidation(bytes: Uint8Array): Invalidation | undefined {
  const { envelope, fields } = parseEnvelope(bytes);
  const subject = invalidationSubjects.find((known) => known === fields["subject"]);
  return envelope === undefined || subject === undefined ? undefined : { ...envelope, subject };
}

type Fields = Readonly<Record<string, unknown>>;

function parseEnvelope(bytes: Uint8Array): { envelope: Envelope | undefined; fields: Fields } {
  const fields = parseObject(bytes);
  const { member, incarnation, sequence } = fields;
  const isEnvelope = isMember(member) && isCount(incarnation) && isCount(sequence);
  return { envelope: isEnvelope ? { member, incarnation, sequence } : undefined, fields };
}

function parseObject(bytes: Uint8Array): Fields {
  if (bytes.length > messageBytesMax) return {};
  try {
    const value: unknown = bytes[0] === openBrace ? JSON.parse(Buffer.from(bytes).toString()) : cbor.decode(bytes);
    return objectOf(value);
  } catch {
    return {};
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isMember(value: unknown): value is number {
  return isCount(value) && value > 0;
}

/** Reports whether the value is short printable ASCII, because people see it in terminals and logs. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= textLengthMax && plainText.test(value);
}

function isTexts(value: unknown, max: number): value is string[] {
  return Array.isArray(value) && value.length <= max && value.every(isText);
}
