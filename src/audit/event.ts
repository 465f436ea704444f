import { isIP } from "node:net";
import { formatMicroTime } from "../api/clock.ts";
import type { UserInfo } from "../authentication/user-info.ts";
import type { HeaderList, IncomingRequest } from "../http/exchange.ts";
import type { RequestInfo, ResourceRequest } from "../http/request-info.ts";
import type { Annotations } from "./recording.ts";
import type { Level, Stage } from "./policy.ts";

const decisionAnnotation = "authorization.k8s.io/decision";
const reasonAnnotation = "authorization.k8s.io/reason";
const userAgentCharactersMax = 1_024;
const sourceAddressesMax = 32;

/** What one event says. Texts in JSON are put into it as they are. */
export interface AuditEvent {
  readonly level: Level;
  /** Of letters, digits and a few signs that stand for themselves in JSON. */
  readonly auditId: string;
  readonly stage: Stage;
  readonly request: IncomingRequest;
  readonly info: RequestInfo;
  /** Undefined for one who did not authenticate. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  /** The verb that allowed a constrained impersonation, "" for none. */
  readonly impersonationConstraint: string;
  /** What the path does not say of the object, as far as it is known. */
  readonly object: { readonly name?: string };
  /** A Status, JSON. */
  readonly responseStatus: string | undefined;
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly receivedMs: number;
  readonly stageMs: number;
  readonly annotations: Readonly<Annotations>;
}

/**
 * An Event of audit.k8s.io/v1 on one line, in upstream's order of fields. Written for every request: what many events
 * have in common is made once, and the rest is put together in one piece.
 */
export function eventText(event: AuditEvent): string {
  const { info } = event;
  const { rawPath } = event.request;
  // What the path says is quoted at once: one look instead of one for each of its parts.
  const quotePart = isPlain(rawPath) ? quotePlain : quote;
  const objectRef = info.kind === "resource" ? objectText(info, event.object, quotePart) : "";
  const status = event.responseStatus === undefined ? "" : `,"responseStatus":${event.responseStatus}`;
  return `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${event.level}","auditID":"${event.auditId}","stage":"${event.stage}","requestURI":${quotePart(rawPath)},"verb":${quotePart(info.verb)}${whoText(event)}${objectRef}${status}${bodiesText(event)},"requestReceivedTimestamp":"${microTime(event.receivedMs)}","stageTimestamp":"${microTime(event.stageMs)}"${annotationsText(event.annotations)}}`;
}

function bodiesText({ requestObject, responseObject }: AuditEvent): string {
  const request = requestObject === undefined ? "" : `,"requestObject":${requestObject}`;
  return responseObject === undefined ? request : `${request},"responseObject":${responseObject}`;
}

/** Who, from where and with what: the same for all that a client sends on its connections. */
function whoText(event: AuditEvent): string {
  const { user, impersonatedUser, request } = event;
  const { remoteAddress, headers } = request;
  if (user === undefined || impersonatedUser !== undefined || isForwarded(headers)) return newWhoText(event);
  const userAgent = userAgentOf(headers);
  const known = senders.get(user.name);
  if (known?.remoteAddress === remoteAddress && known.userAgent === userAgent && isSameUser(known.user, user)) {
    return known.text;
  }
  if (senders.size >= sendersMax) senders.clear();
  const text = newWhoText(event);
  senders.set(user.name, { user, remoteAddress, userAgent, text });
  return text;
}

interface Sender {
  readonly user: UserInfo;
  readonly remoteAddress: string;
  readonly userAgent: string;
  readonly text: string;
}

/** What was made for the last request of each user; emptied when it is full. */
const senders = new Map<string, Sender>();
const sendersMax = 1_000;

function isSameUser(a: UserInfo, b: UserInfo): boolean {
  if (a === b) return true;
  if (a.extra.size > 0 || b.extra.size > 0) return false;
  if (a.uid !== b.uid || a.groups.length !== b.groups.length) return false;
  for (let at = 0; at < a.groups.length; at++) if (a.groups[at] !== b.groups[at]) return false;
  return true;
}

function newWhoText({ user, impersonatedUser, impersonationConstraint, request }: AuditEvent): string {
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

function objectText(info: ResourceRequest, object: AuditEvent["object"], quotePart: typeof quote): string {
  const name = nameText(info.name === "" ? quote(object.name ?? "") : quotePart(info.name));
  const namespace = info.namespace === "" ? "" : `,"namespace":${quotePart(info.namespace)}`;
  const group = info.group === "" ? "" : `,"apiGroup":${quotePart(info.group)}`;
  const subresource = info.subresource === "" ? "" : `,"subresource":${quotePart(info.subresource)}`;
  return `,"objectRef":{"resource":${quotePart(info.resource)}${namespace}${name}${group},"apiVersion":${quotePart(info.version)}${subresource}}`;
}

function nameText(quoted: string): string {
  return quoted === '""' ? "" : `,"name":${quoted}`;
}

function isForwarded(headers: HeaderList): boolean {
  for (let at = 0; at < headers.length; at++) {
    const [name] = headers[at] as HeaderList[number];
    if (name === "x-forwarded-for" || name === "x-real-ip") return true;
  }
  return false;
}

/** Whom the request came through, as they say, and who sent it to us. */
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
    const [name, value] = headers[at] as HeaderList[number];
    if (name !== "user-agent") continue;
    return value.length > userAgentCharactersMax ? `${value.slice(0, userAgentCharactersMax)}...TRUNCATED` : value;
  }
  return "";
}

/** Times that were written last: many events share a millisecond, and the beginning of one is the end of another. */
const times = [
  { ms: Number.NaN, text: "" },
  { ms: Number.NaN, text: "" },
];
let oldestTime = 0;

/** RFC 3339 in microseconds. */
function microTime(ms: number): string {
  for (const time of times) if (time.ms === ms) return time.text;
  const text = formatMicroTime(ms);
  times[oldestTime] = { ms, text };
  oldestTime = 1 - oldestTime;
  return text;
}

/** By decision and reason, as nearly all events have them and nothing more; emptied when it is full. */
const decisionTexts = new Map<string, Map<string, string>>();
const reasonsMax = 1_000;

function annotationsText({ decision, reason, more }: Readonly<Annotations>): string {
  if (decision === "") return more === undefined ? "" : `,"annotations":{${mapText(more)}}`;
  if (more !== undefined) return `,"annotations":{${decisionText(decision, reason)},${mapText(more)}}`;
  let texts = decisionTexts.get(decision);
  if (texts === undefined) {
    texts = new Map();
    decisionTexts.set(decision, texts);
  }
  let text = texts.get(reason);
  if (text === undefined) {
    if (texts.size >= reasonsMax) texts.clear();
    text = `,"annotations":{${decisionText(decision, reason)}}`;
    texts.set(reason, text);
  }
  return text;
}

function decisionText(decision: string, reason: string): string {
  return `"${decisionAnnotation}":${quote(decision)},"${reasonAnnotation}":${quote(reason)}`;
}

function mapText(map: ReadonlyMap<string, string>): string {
  return [...map].map(([key, value]) => `${quote(key)}:${quote(value)}`).join(",");
}

/**
 * A target of nothing but characters that stand for themselves, in JSON and in a path: then so does what is parsed
 * from it.
 */
function isPlain(rawPath: string): boolean {
  return /^[!#$&-[\]-~]*$/.test(rawPath);
}

function quotePlain(text: string): string {
  return `"${text}"`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
