import type { AuditBackend } from "../../access/audit/backend.ts";
import type { AuditEvent } from "../../access/audit/event.ts";
import {
  type DecodeProtobuf,
  objectBytesMax,
  objectText,
  type ReadObject,
  withoutManagedFields,
} from "../../access/audit/object-text.ts";
import { type AuditPolicy, type AuditRule, auditRule, levels, type Stage } from "../../access/audit/policy.ts";
import { Recording, truncatedAnnotation } from "../../access/audit/recording.ts";
import { joinBytes } from "../../api/codec/byte-text.ts";
import { formatGoDuration } from "../../api/go-duration.ts";
import type { Clock } from "../../process/clock.ts";
import { followedBy } from "../../process/eventual.ts";
import { runSliced } from "../../process/sliced.ts";
import { annotate, type ObjectIdentity, unknownObject } from "../../request/annotations.ts";
import {
  type Exchange,
  type Filter,
  type Finish,
  type HttpResponse,
  header,
  type Reply,
} from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { isLongRunning } from "../long-running.ts";
import { whenComplete } from "../with-headers.ts";

/** The annotation with the duration of a slow request. */
const latencyAnnotation = "apiserver.latency.k8s.io/total";
const latencyMsUnremarkable = 500;
const nanosecondsPerMs = 1_000_000n;

export interface AuditOptions {
  readonly policy: AuditPolicy;
  readonly backend: AuditBackend;
  readonly clock: Clock;
  readonly decodeProtobuf: DecodeProtobuf;
  /** Receives events that could not be written after the request was handled. */
  onError(error: unknown): void;
  readonly metrics?: AuditFilterMetrics | undefined;
}

export interface AuditFilterMetrics {
  /** Counts a request by its audit level. */
  judged(level: AuditRule["level"]): void;
  /** Counts a request that fails because it could not be recorded. */
  rejected(): void;
}

/**
 * Decides how a request is recorded, which depends on its user, and records its arrival. Runs after authentication and
 * before impersonation. A backend that must not lose events fails the request here, before anything is done.
 */
export function audit(options: AuditOptions): Filter {
  return (next) => (exchange) => {
    const recording = begin(options, exchange, exchange.user);
    const { rule } = recording;
    exchange.audit = recording;
    if (rule === undefined) return next(exchange);
    if (records(rule, "Request") && hasObjects(exchange)) keepBody(exchange, recording);
    if (rule.omitStages.has("RequestReceived")) return next(exchange);
    const received = eventOf(exchange, recording, "RequestReceived", exchange.receivedMs, nothingMore);
    const wait = writeFirst(options, received);
    return wait === undefined ? next(exchange) : wait.then(() => next(exchange));
  };
}

/** Writes an event without which the request must not continue. */
function writeFirst({ backend, metrics }: AuditOptions, event: AuditEvent): void | Promise<void> {
  const refuse = (error: unknown): never => {
    metrics?.rejected();
    throw error;
  };
  try {
    return backend.write(event)?.catch(refuse);
  } catch (error) {
    return refuse(error);
  }
}

/** Records the end of a request, including errors and refusals. A request that never reached the filter has no user. */
export function auditResponse(options: AuditOptions): Finish {
  return (exchange, response) => {
    const recording = exchange.audit instanceof Recording ? exchange.audit : begin(options, exchange, undefined);
    const { rule } = recording;
    if (rule === undefined) return response;
    if (response.kind === "stream") return recordStream(options, exchange, recording, response);
    if (!records(rule, "RequestResponse") || isBytes(response.body)) {
      const wait = writeEnd(options, exchange, recording, response);
      return wait === undefined ? response : wait.then(() => response);
    }
    return recordChunks(options, exchange, recording, response);
  };
}

function begin({ policy, metrics }: AuditOptions, { info, request }: Exchange, user: UserInfo | undefined): Recording {
  const rule = auditRule(policy, user, info);
  metrics?.judged(rule?.level ?? "None");
  const recording = new Recording(rule, user);
  for (const [key, value] of request.auditNotes ?? []) annotate(recording, key, value);
  return recording;
}

function records({ level }: AuditRule, wanted: AuditRule["level"]): boolean {
  return levels.indexOf(level) >= levels.indexOf(wanted);
}

/** As upstream does, records bodies only of resource requests. The answer to a new member is entirely secret. */
function hasObjects({ info }: Exchange): boolean {
  return info.kind === "resource";
}

function keepBody({ request }: Exchange, recording: Recording): void {
  const read = request.body.bind(request);
  request.body = async () => {
    const bytes = await read();
    recording.requestBody = bytes;
    return bytes;
  };
}

function recordStream(
  options: AuditOptions,
  exchange: Exchange,
  recording: Recording,
  response: HttpResponse,
): HttpResponse | Promise<HttpResponse> {
  const complete = whenComplete(response, () => void writeEnd(options, exchange, recording, response));
  const isStarted = isLongRunning(exchange.info) && recording.rule?.omitStages.has("ResponseStarted") !== true;
  if (!isStarted) return complete;
  const started = { ...nothingMore, responseStatus: statusText(exchange, response) };
  const wait = write(options, exchange, recording, "ResponseStarted", started);
  return wait === undefined ? complete : wait.then(() => complete);
}

/** A streamed body is recorded at its end. */
function recordChunks(options: AuditOptions, exchange: Exchange, recording: Recording, response: Reply): HttpResponse {
  const source = response.body as AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  async function* body(): AsyncGenerator<Uint8Array> {
    const kept: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const chunk of source) {
        length += chunk.length;
        if (length <= objectBytesMax) kept.push(chunk);
        yield chunk;
      }
    } finally {
      const whole = length <= objectBytesMax ? kept : undefined;
      if (whole === undefined) annotate(recording, truncatedAnnotation, "true");
      await writeEnd(options, exchange, recording, { ...response, body: whole ?? [] });
    }
  }
  return { ...response, body: body() };
}

function writeEnd(
  options: AuditOptions,
  exchange: Exchange,
  recording: Recording,
  response: HttpResponse,
): void | Promise<void> {
  const { rule } = recording;
  const stages = rule === undefined ? [] : endStages(exchange, rule, response);
  if (rule === undefined || stages.length === 0) return undefined;
  const latencyMs = options.clock.steadyMs() - exchange.startedMs;
  if (latencyMs > latencyMsUnremarkable) annotateLatency(recording, latencyMs);
  const bytes = response.kind === "reply" && readsBody(exchange, rule) ? bodyBytes(response.body) : undefined;
  const rest = { responseStatus: statusText(exchange, response), object: objectOf(exchange, recording, bytes) };
  const writeWith = (bodies: Bodies): void | Promise<void> => {
    const waits = stages.map((stage) => write(options, exchange, recording, stage, { ...rest, ...bodies }));
    return waits.length === 1 ? waits[0] : Promise.all(waits).then(() => {});
  };
  const hasBodies = recording.requestBody !== undefined || rule.level === "RequestResponse";
  if (!hasBodies || !hasObjects(exchange)) return writeWith(noBodies);
  return followedBy(runSliced(bodyTexts(options, exchange, recording, response, bytes)), writeWith);
}

/**
 * Returns the stages that are recorded when an answer is known. As in kube-apiserver, a long-running request that is
 * refused has started its response before it completes it, and a request that fails authentication only starts it.
 */
function endStages(exchange: Exchange, { omitStages }: AuditRule, response: HttpResponse): readonly Stage[] {
  if (exchange.failed === true) return omitStages.has("Panic") ? [] : ["Panic"];
  const starts = response.kind === "reply" && !omitStages.has("ResponseStarted");
  if (starts && exchange.audit === undefined && response.code === 401) return ["ResponseStarted"];
  const completes = omitStages.has("ResponseComplete") ? [] : (["ResponseComplete"] as const);
  return starts && isLongRunning(exchange.info) ? ["ResponseStarted", ...completes] : completes;
}

function* bodyTexts(
  options: AuditOptions,
  exchange: Exchange,
  recording: Recording,
  response: HttpResponse,
  bytes: Uint8Array | undefined,
): Generator<void, Bodies> {
  const requestObject = yield* requestText(options, exchange, recording);
  return { requestObject, responseObject: yield* responseText(options, recording, response, bytes) };
}

function annotateLatency(recording: Recording, ms: number): void {
  annotate(recording, latencyAnnotation, formatGoDuration(BigInt(Math.round(ms)) * nanosecondsPerMs));
}

/** The parts of an event besides its user and its request. */
type More = Bodies & Pick<AuditEvent, "responseStatus" | "object">;
type Bodies = Pick<AuditEvent, "requestObject" | "responseObject">;

const noBodies: Bodies = { requestObject: undefined, responseObject: undefined };
const nothingMore: More = { ...noBodies, responseStatus: undefined, object: unknownObject };

function write(
  { backend, clock, onError }: AuditOptions,
  exchange: Exchange,
  recording: Recording,
  stage: Stage,
  more: More,
): void | Promise<void> {
  try {
    const wait = backend.write(eventOf(exchange, recording, stage, clock.nowMs(), more));
    return wait?.catch(onError);
  } catch (error) {
    // The request is complete, so it can no longer be refused.
    onError(error);
    return undefined;
  }
}

function eventOf(exchange: Exchange, recording: Recording, stage: Stage, stageMs: number, more: More): AuditEvent {
  const { impersonation } = exchange;
  return {
    level: recording.rule?.level ?? "None",
    auditId: exchange.auditId,
    stage,
    request: exchange.request,
    info: exchange.info,
    user: recording.user,
    impersonatedUser: impersonation === undefined ? undefined : exchange.user,
    impersonationConstraint: impersonation?.constraint ?? "",
    object: more.object,
    responseStatus: more.responseStatus,
    requestObject: more.requestObject,
    responseObject: more.responseObject,
    receivedMs: exchange.receivedMs,
    stageMs,
    annotations: recording,
  };
}

function* requestText(
  options: AuditOptions,
  { request }: Exchange,
  recording: Recording,
): Generator<void, string | undefined> {
  const { requestBody } = recording;
  if (requestBody === undefined) return undefined;
  const contentType = header(request, "content-type") ?? "application/json";
  return yield* bodyText(options, recording, requestBody, { contentType, isRequest: true });
}

function* responseText(
  options: AuditOptions,
  recording: Recording,
  response: HttpResponse,
  bytes: Uint8Array | undefined,
): Generator<void, string | undefined> {
  if (bytes === undefined || recording.rule?.level !== "RequestResponse") return undefined;
  return yield* bodyText(options, recording, bytes, { contentType: contentTypeOf(response), isRequest: false });
}

function* bodyText(
  { decodeProtobuf }: AuditOptions,
  recording: Recording,
  bytes: Uint8Array,
  form: Pick<ReadObject, "contentType" | "isRequest">,
): Generator<void, string | undefined> {
  if (bytes.length === 0) return undefined;
  if (bytes.length > objectBytesMax) {
    annotate(recording, truncatedAnnotation, "true");
    return undefined;
  }
  const text = yield* objectText(bytes, { ...form, decodeProtobuf });
  return text !== undefined && recording.rule?.omitManagedFields === true ? yield* withoutManagedFields(text) : text;
}

const successText = '{"metadata":{},"code":200}';

/** Returns the answer as a Status, which a refusal already is. */
function statusText({ refusal }: Exchange, { code }: HttpResponse): string {
  if (refusal !== undefined) {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = refusal;
    return JSON.stringify(rest);
  }
  return code === 200 ? successText : `{"metadata":{},"code":${code}}`;
}

const nameMark = Buffer.from('"metadata":{"name":"');
/** Number of bytes at the start of a JSON object that contain its name. */
const nameBytesMax = 512;

/** Returns the reference of the request, with the generated name if the object had none. */
function objectOf({ info }: Exchange, { object }: Recording, bytes: Uint8Array | undefined): ObjectIdentity {
  const isNamed = info.kind !== "resource" || info.name !== "" || object.name !== "";
  if (info.verb !== "create" || isNamed || bytes === undefined) return object;
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, nameBytesMax));
  const mark = head.indexOf(nameMark);
  const end = mark === -1 ? -1 : head.indexOf(0x22, mark + nameMark.length);
  return end === -1 ? object : { ...object, name: head.toString("utf8", mark + nameMark.length, end) };
}

function contentTypeOf({ headers }: HttpResponse): string {
  return headers.find(([name]) => name === "content-type")?.[1] ?? "";
}

/** Joins the chunks of the body only if the body or the name of the created object is needed. */
function readsBody({ info }: Exchange, rule: AuditRule): boolean {
  return rule.level === "RequestResponse" || info.verb === "create";
}

function isBytes(body: Reply["body"]): body is Uint8Array | readonly Uint8Array[] {
  return body instanceof Uint8Array || Array.isArray(body);
}

function bodyBytes(body: Reply["body"]): Uint8Array | undefined {
  if (body instanceof Uint8Array) return body;
  return Array.isArray(body) ? joinBytes(body) : undefined;
}
