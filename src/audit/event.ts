import { isIP } from "node:net";
import type { UserInfo } from "../authentication/user-info.ts";
import type { HeaderList, IncomingRequest } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Level, Stage } from "./policy.ts";

const userAgentCharactersMax = 1_024;
const sourceAddressesMax = 32;

/** What one event says. Texts in JSON are put into it as they are. */
export interface AuditEvent {
  readonly level: Level;
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
  readonly object: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string };
  /** A Status, JSON. */
  readonly responseStatus: string | undefined;
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly receivedMs: number;
  readonly stageMs: number;
  readonly annotations: ReadonlyMap<string, string>;
}

/** An Event of audit.k8s.io/v1 on one line, in upstream's order of fields. */
export function eventText(event: AuditEvent): string {
  const { request, info } = event;
  let text = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${event.level}","auditID":${quote(event.auditId)}`;
  text += `,"stage":"${event.stage}","requestURI":${quote(request.rawPath)},"verb":${quote(info.verb)}`;
  text += `,"user":${event.user === undefined ? "{}" : userText(event.user)}`;
  if (event.impersonatedUser !== undefined) text += `,"impersonatedUser":${userText(event.impersonatedUser)}`;
  if (event.impersonationConstraint !== "") {
    text += `,"authenticationMetadata":{"impersonationConstraint":${quote(event.impersonationConstraint)}}`;
  }
  text += `,"sourceIPs":[${sourceAddresses(request).map(quote).join(",")}]`;
  const userAgent = userAgentOf(request.headers);
  if (userAgent !== "") text += `,"userAgent":${quote(userAgent)}`;
  if (info.kind === "resource") text += `,"objectRef":${objectText(info, event.object)}`;
  if (event.responseStatus !== undefined) text += `,"responseStatus":${event.responseStatus}`;
  if (event.requestObject !== undefined) text += `,"requestObject":${event.requestObject}`;
  if (event.responseObject !== undefined) text += `,"responseObject":${event.responseObject}`;
  text += `,"requestReceivedTimestamp":"${microTime(event.receivedMs)}","stageTimestamp":"${microTime(event.stageMs)}"`;
  if (event.annotations.size > 0) text += `,"annotations":${mapText(event.annotations)}`;
  return `${text}}`;
}

const userTexts = new WeakMap<UserInfo, string>();

/** A user sends many requests: their text is made once. */
function userText(user: UserInfo): string {
  let text = userTexts.get(user);
  if (text === undefined) {
    const { name, uid, groups, extra } = user;
    const fields = [`"username":${quote(name)}`];
    if (uid !== "") fields.push(`"uid":${quote(uid)}`);
    if (groups.length > 0) fields.push(`"groups":[${groups.map(quote).join(",")}]`);
    if (extra.size > 0) {
      const entries = [...extra].map(([key, values]) => `${quote(key)}:[${values.map(quote).join(",")}]`);
      fields.push(`"extra":{${entries.join(",")}}`);
    }
    text = `{${fields.join(",")}}`;
    userTexts.set(user, text);
  }
  return text;
}

function objectText(info: RequestInfo & { kind: "resource" }, object: AuditEvent["object"]): string {
  let text = `{"resource":${quote(info.resource)}`;
  const name = info.name === "" ? (object.name ?? "") : info.name;
  if (info.namespace !== "") text += `,"namespace":${quote(info.namespace)}`;
  if (name !== "") text += `,"name":${quote(name)}`;
  if (object.uid !== undefined) text += `,"uid":${quote(object.uid)}`;
  if (info.group !== "") text += `,"apiGroup":${quote(info.group)}`;
  text += `,"apiVersion":${quote(info.version)}`;
  if (object.resourceVersion !== undefined) text += `,"resourceVersion":${quote(object.resourceVersion)}`;
  if (info.subresource !== "") text += `,"subresource":${quote(info.subresource)}`;
  return `${text}}`;
}

/** Whom the request came through, as they say, and who sent it to us. */
function sourceAddresses({ headers, remoteAddress }: IncomingRequest): string[] {
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

function userAgentOf(headers: HeaderList): string {
  for (const [name, value] of headers) {
    if (name !== "user-agent") continue;
    return value.length > userAgentCharactersMax ? `${value.slice(0, userAgentCharactersMax)}...TRUNCATED` : value;
  }
  return "";
}

let lastMs = Number.NaN;
let lastText = "";

/** RFC 3339 in microseconds. Many events share a millisecond. */
function microTime(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = `${new Date(ms).toISOString().slice(0, -1)}000Z`;
  }
  return lastText;
}

function mapText(map: ReadonlyMap<string, string>): string {
  return `{${[...map].map(([key, value]) => `${quote(key)}:${quote(value)}`).join(",")}}`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}
