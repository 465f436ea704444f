import { isIP } from "node:net";
import { formatMicroTime } from "../../api/time.ts";
import type { Annotations, ObjectIdentity } from "../../request/annotations.ts";
import type { HeaderList, IncomingRequest } from "../../request/exchange.ts";
import type { RequestInfo, ResourceRequest } from "../../request/request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { LineBuffer } from "./line-buffer.ts";
import { type Level, levels, type Stage } from "./policy.ts";

const decisionAnnotation = "authorization.k8s.io/decision";
const reasonAnnotation = "authorization.k8s.io/reason";
const userAgentCharactersMax = 1_024;
const sourceAddressesMax = 32;

/** The contents of one event. JSON texts are included unchanged. */
export interface AuditEvent {
  readonly level: Level;
  /** An id of letters, digits and characters that need no escape in JSON. */
  readonly auditId: string;
  readonly stage: Stage;
  readonly request: IncomingRequest;
  readonly info: RequestInfo;
  /** User; undefined for an unauthenticated request. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  /** The verb that allowed a constrained impersonation, or "". */
  readonly impersonationConstraint: string;
  readonly object: ObjectIdentity;
  /** Status as JSON. */
  readonly responseStatus: string | undefined;
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly receivedMs: number;
  readonly stageMs: number;
  readonly annotations: Readonly<Annotations>;
}

/**
 * Writes an Event of audit.k8s.io/v1 on one line, in upstream's order of fields. It runs for every request, so parts that
 * many events share are encoded only once.
 */
export function writeEvent(out: LineBuffer, event: AuditEvent): void {
  const { info, responseStatus, requestObject, responseObject } = event;
  const { rawPath } = event.request;
  // Check the whole path once, not each part.
  const plain = isPlain(rawPath);
  out.piece(beginnings[event.level]);
  out.text(event.auditId);
  out.text('","stage":"');
  out.text(event.stage);
  writeField(out, '","requestURI":', rawPath, plain);
  writeField(out, ',"verb":', info.verb, plain);
  out.piece(whoPiece(event));
  if (info.kind === "resource") writeObjectRef(out, info, event.object, plain);
  if (responseStatus !== undefined) writeObject(out, ',"responseStatus":', responseStatus);
  if (requestObject !== undefined) writeObject(out, ',"requestObject":', requestObject);
  if (responseObject !== undefined) writeObject(out, ',"responseObject":', responseObject);
  out.text(',"requestReceivedTimestamp":"');
  out.text(microTime(event.receivedMs));
  out.text('","stageTimestamp":"');
  out.text(microTime(event.stageMs));
  out.text('"');
  writeAnnotations(out, event.annotations);
  out.text("}");
}

const beginnings = Object.fromEntries(
  levels.map((level) => [
    level,
    Buffer.from(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":"`),
  ]),
) as Record<Level, Buffer>;

function writeField(out: LineBuffer, name: string, value: string, plain: boolean): void {
  out.text(name);
  if (plain) out.quoted(value);
  else out.text(quote(value));
}

function writeObject(out: LineBuffer, name: string, json: string): void {
  out.text(name);
  out.text(json);
}

/** Returns the user, source and agent, which are the same for all requests on a client's connections. */
function whoPiece(event: AuditEvent): Uint8Array {
  const { user, impersonatedUser, request } = event;
  const { remoteAddress, headers } = request;
  if (user === undefined || impersonatedUser !== undefined || isForwarded(headers)) {
    return Buffer.from(whoText(event));
  }
  const userAgent = userAgentOf(headers);
  const known = senders.get(user.name);
  if (known?.remoteAddress === remoteAddress && known.userAgent === userAgent && isSameUser(known.user, user)) {
    return known.piece;
  }
  if (senders.size >= sendersMax) senders.clear();
  const piece = Buffer.from(whoText(event));
  senders.set(user.name, { user, remoteAddress, userAgent, piece });
  return piece;
}

interface Sender {
  readonly user: UserInfo;
  readonly remoteAddress: string;
  readonly userAgent: string;
  readonly piece: Uint8Array;
}

/** The encoded parts of each user's last request; cleared when full. */
const senders = new Map<string, Sender>();
const sendersMax = 1_000;

function isSameUser(a: UserInfo, b: UserInfo): boolean {
  if (a === b) return true;
  if (a.extra.size > 0 || b.extra.size > 0) return false;
  if (a.uid !== b.uid || a.groups.length !== b.groups.length) return false;
  for (let at = 0; at < a.groups.length; at++) if (a.groups[at] !== b.groups[at]) return false;
  return true;
}

function whoText({ user, impersonatedUser, impersonationConstraint, request }: AuditEvent): string {
  const sender = user === undefined ? "{}" : userText(user);
  const impersonated = impersonatedUser === undefined ? "" : `,"impersonatedUser":${userText(impersonatedUser)}`;
  const constraint =
    impersonationConstraint === ""
      ? ""
      : `,"authenticationMetadata":{"impersonationConstraint":${quote(impersonationConstraint)}}`;
  const addresses = sourceAddresses(request).map(quote).join(",");
  const userAgent = userAgentOf(request.headers);
  const agent = userAgent === "" ? "" : `,"userAgent":${quote(userAgent)}`;
  return `,"user":${sender}${impersonated}${constraint},"sourceIPs":[${addresses}]${agent}`;
}

function userText({ name, uid, groups, extra }: UserInfo): string {
  const fields = [`"username":${quote(name)}`];
  if (uid !== "") fields.push(`"uid":${quote(uid)}`);
  if (groups.length > 0) fields.push(`"groups":[${groups.map(quote).join(",")}]`);
  if (extra.size > 0) {
    const entries = [...extra].map(([key, values]) => `${quote(key)}:[${values.map(quote).join(",")}]`);
    fields.push(`"extra":{${entries.join(",")}}`);
  }
  return `{${fields.join(",")}}`;
}

function writeObjectRef(out: LineBuffer, info: ResourceRequest, object: ObjectIdentity, plain: boolean): void {
  writeField(out, ',"objectRef":{"resource":', info.resource, plain);
  if (info.namespace !== "") writeField(out, ',"namespace":', info.namespace, plain);
  if (info.name !== "") writeField(out, ',"name":', info.name, plain);
  else if (object.name !== "") writeField(out, ',"name":', object.name, false);
  if (object.uid !== "") writeField(out, ',"uid":', object.uid, false);
  if (info.group !== "") writeField(out, ',"apiGroup":', info.group, plain);
  writeField(out, ',"apiVersion":', info.version, plain);
  if (object.resourceVersion !== "") writeField(out, ',"resourceVersion":', object.resourceVersion, false);
  if (info.subresource !== "") writeField(out, ',"subresource":', info.subresource, plain);
  out.text("}");
}

function isForwarded(headers: HeaderList): boolean {
  for (let at = 0; at < headers.length; at++) {
    const name = (headers[at] as HeaderList[number])[0];
    if (name === "x-forwarded-for" || name === "x-real-ip") return true;
  }
  return false;
}

/** Returns the forwarding addresses in the headers, followed by the sender's address. */
export function sourceAddresses({ headers, remoteAddress }: IncomingRequest): string[] {
  const addresses: string[] = [];
  for (const [name, value] of headers) {
    if (name !== "x-forwarded-for" && name !== "x-real-ip") continue;
    for (const part of value.split(",", sourceAddressesMax)) {
      const address = part.trim();
      if (isIP(address) !== 0 && !addresses.includes(address)) addresses.push(address);
    }
  }
  const known = addresses.slice(0, sourceAddressesMax);
  if (known.at(-1) !== remoteAddress) known.push(remoteAddress);
  return known;
}

export function userAgentOf(headers: HeaderList): string {
  for (let at = 0; at < headers.length; at++) {
    const field = headers[at] as HeaderList[number];
    if (field[0] !== "user-agent") continue;
    const value = field[1];
    return value.length > userAgentCharactersMax ? `${value.slice(0, userAgentCharactersMax)}...TRUNCATED` : value;
  }
  return "";
}

/** The last formatted times. Many events share a millisecond, and one request's start is another's end. */
const times = [
  { ms: Number.NaN, text: "" },
  { ms: Number.NaN, text: "" },
];
let oldestTime = 0;

/** Formats RFC 3339 with microseconds. */
function microTime(ms: number): string {
  for (const time of times) if (time.ms === ms) return time.text;
  const text = formatMicroTime(ms);
  times[oldestTime] = { ms, text };
  oldestTime = 1 - oldestTime;
  return text;
}

/** Encoded annotations by decision and reason, the only annotations of almost every event; cleared when full. */
const decisionPieces = new Map<string, Map<string, Uint8Array>>();
const reasonsMax = 1_000;

function writeAnnotations(out: LineBuffer, { decision, reason, more }: Readonly<Annotations>): void {
  if (more !== undefined) {
    const decided = decision === "" ? "" : `${decisionText(decision, reason)},`;
    out.text(`,"annotations":{${decided}${mapText(more)}}`);
  } else if (decision !== "") out.piece(decisionPiece(decision, reason));
}

function decisionPiece(decision: string, reason: string): Uint8Array {
  let pieces = decisionPieces.get(decision);
  if (pieces === undefined) {
    pieces = new Map();
    decisionPieces.set(decision, pieces);
  }
  let piece = pieces.get(reason);
  if (piece === undefined) {
    if (pieces.size >= reasonsMax) pieces.clear();
    piece = Buffer.from(`,"annotations":{${decisionText(decision, reason)}}`);
    pieces.set(reason, piece);
  }
  return piece;
}

function decisionText(decision: string, reason: string): string {
  return `"${decisionAnnotation}":${quote(decision)},"${reasonAnnotation}":${quote(reason)}`;
}

function mapText(map: ReadonlyMap<string, string>): string {
  return [...map].map(([key, value]) => `${quote(key)}:${quote(value)}`).join(",");
}

/**
 * Reports whether a target has only characters that need no escape in JSON or in a path. That is then also true of every
 * part parsed from it.
 */
function isPlain(rawPath: string): boolean {
  return /^[!#$&-[\]-~]*$/.test(rawPath);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
