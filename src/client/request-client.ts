import { parseJson, stringifyJson } from "../api/codec/json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { objectOf } from "../api/json-reading.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Status, StatusError } from "../api/status.ts";
import { initialEventsEndAnnotation } from "../api/vendor.ts";
import type { Clock } from "../process/clock.ts";
import type {
  Client,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectList,
  ObjectName,
  Patch,
  RequestOptions,
  ResourceType,
  Selector,
  UpdateOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client.ts";
import { Deadline } from "./deadline.ts";
import { readAnswer, readRefusal, statusErrorOf } from "./read-answer.ts";
import { type QueryParameters, queryText, resourcePath } from "./resource-path.ts";
import { NoAnswerError, type Transport } from "./transport.ts";
import { linesOf } from "./watch-lines.ts";

/** Longer than the minute that servers allow, because their answer says more. */
const timeoutMsDefault = 70_000;
/** Time beyond its timeout after which the server of a watch counts as gone. */
const watchGraceMs = 10_000;

const patchMediaTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  // JSON is YAML too.
  apply: "application/apply-patch+yaml",
} as const satisfies Record<Patch["kind"], string>;

export interface RequestClientParts {
  readonly transport: Transport;
  readonly clock: Clock;
  /** The server takes the part before the slash as the field manager. */
  readonly userAgent: string;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: QueryParameters;
  readonly body?: JsonValue;
  readonly mediaType?: string;
}

/** A Client that sends every call as a JSON request over a transport. */
export class RequestClient implements Client {
  readonly #parts: RequestClientParts;

  constructor(parts: RequestClientParts) {
    this.#parts = parts;
  }

  async get<T extends KubeObject>(type: ResourceType<T>, of: ObjectName, options: GetOptions = {}): Promise<T> {
    const { resourceVersion } = options;
    return this.#object({ method: "GET", path: resourcePath(type, of), query: { resourceVersion } }, options);
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { namespace, signal: _, timeoutMs: __, ...query } = options;
    return listOf(await this.#json({ method: "GET", path: resourcePath(type, { namespace }), query }, options));
  }

  async *watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void> {
    const { namespace, signal, timeoutMs = timeoutMsDefault, ...query } = options;
    const { transport, clock } = this.#parts;
    using deadline = new Deadline(clock, timeoutMs, signal);
    const call = { method: "GET", path: resourcePath(type, { namespace }), query: { watch: true, ...query } };
    try {
      const answer = await transport.send(this.#request(call, deadline.signal));
      if (answer.code !== 200) throw await readRefusal(answer);
      const { timeoutSeconds } = options;
      deadline.extend(timeoutSeconds === undefined ? undefined : timeoutSeconds * 1_000 + watchGraceMs);
      for await (const line of linesOf(answer.body)) yield eventOf<T>(line);
    } catch (error) {
      throw deadline.reasonFor(error);
    }
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace } = object.metadata;
    const path = resourcePath(type, { namespace });
    return this.#object({ method: "POST", path, query: writeQuery(options), body: object as JsonObject }, options);
  }

  update<T extends KubeObject>(type: ResourceType<T>, object: T, options: UpdateOptions = {}): Promise<T> {
    const { namespace, name = "" } = object.metadata;
    const path = resourcePath(type, { namespace, name, subresource: options.subresource });
    return this.#object({ method: "PUT", path, query: writeQuery(options), body: object as JsonObject }, options);
  }

  patch<T extends KubeObject>(
    type: ResourceType<T>,
    of: ObjectName,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const force = patch.kind === "apply" ? patch.force : undefined;
    const call = {
      method: "PATCH",
      path: resourcePath(type, of),
      query: { ...writeQuery(options), force },
      body: patch.kind === "json" ? [...patch.operations] : patch.document,
      mediaType: patchMediaTypes[patch.kind],
    };
    return this.#object(call, options);
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    of: ObjectName,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    const body = deleteDocument(options);
    return (await this.#json({ method: "DELETE", path: resourcePath(type, of), body }, options)) as unknown as
      | T
      | Status;
  }

  async deleteCollection<T extends KubeObject>(
    type: ResourceType<T>,
    { namespace, ...query }: Selector,
    options: DeleteOptions = {},
  ): Promise<ObjectList<T>> {
    const path = resourcePath(type, { namespace });
    return listOf(
      await this.#json({ method: "DELETE", path, query: { ...query }, body: deleteDocument(options) }, options),
    );
  }

  act(type: ResourceType, of: ObjectName, body: JsonObject, options: WriteOptions = {}): Promise<JsonValue> {
    return this.#json({ method: "POST", path: resourcePath(type, of), query: writeQuery(options), body }, options);
  }

  [Symbol.dispose](): void {
    this.#parts.transport[Symbol.dispose]();
  }

  async #object<T extends KubeObject>(call: Call, options: RequestOptions): Promise<T> {
    const value = await this.#json(call, options);
    if (!isJsonObject(value)) throw new NoAnswerError("the answer is no object");
    return value as unknown as T;
  }

  async #json(call: Call, { signal, timeoutMs = timeoutMsDefault }: RequestOptions): Promise<JsonValue> {
    const { transport, clock } = this.#parts;
    using deadline = new Deadline(clock, timeoutMs, signal);
    try {
      return await readAnswer(await transport.send(this.#request(call, deadline.signal)));
    } catch (error) {
      throw deadline.reasonFor(error);
    }
  }

  #request({ method, path, query = {}, body, mediaType = "application/json" }: Call, signal: AbortSignal) {
    const headers = { accept: "application/json", "user-agent": this.#parts.userAgent };
    return {
      method,
      target: path + queryText(query),
      headers: body === undefined ? headers : { ...headers, "content-type": mediaType },
      body: body === undefined ? undefined : Buffer.from(stringifyJson(body)),
      signal,
    };
  }
}

function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): QueryParameters {
  return { dryRun: dryRun === true ? "All" : undefined, fieldManager, fieldValidation };
}

function deleteDocument(options: DeleteOptions): JsonObject {
  const { signal: _, timeoutMs: __, dryRun, ...preconditions } = options;
  const tried = dryRun === true ? { dryRun: ["All"] } : {};
  return { kind: "DeleteOptions", apiVersion: "v1", ...preconditions, ...tried } as JsonObject;
}

/** Items of a list have no type on the wire. It follows from the type of the list. */
function listOf<T extends KubeObject>(value: JsonValue): ObjectList<T> {
  if (!isJsonObject(value)) throw new NoAnswerError("the answer is no list");
  const { kind, apiVersion, metadata, items } = value;
  const itemKind = String(kind).replace(/List$/, "");
  const typed = (Array.isArray(items) ? items : []).filter(isJsonObject);
  for (const item of typed) {
    item["kind"] ??= itemKind;
    item["apiVersion"] ??= apiVersion as string;
  }
  return { metadata: metadata as unknown as ObjectList<T>["metadata"], items: typed as unknown as T[] };
}

/** @throws StatusError for an ERROR event */
function eventOf<T extends KubeObject>(line: Uint8Array): WatchEvent<T> {
  const frame = parseJson(line, { strict: false }).value;
  const { type, object } = objectOf(frame);
  if (!isJsonObject(object)) throw new NoAnswerError("the watch sent a line that is no event");
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: object as unknown as T };
    case "BOOKMARK": {
      const { resourceVersion = "", annotations } = (object as unknown as KubeObject).metadata;
      return { type, resourceVersion, endsInitialEvents: annotations?.[initialEventsEndAnnotation] === "true" };
    }
    default:
      throw watchError(object);
  }
}

function watchError(object: JsonObject): StatusError | NoAnswerError {
  return statusErrorOf(object, 500) ?? new NoAnswerError("the watch sent an event of a type that is not known");
}
