import type { MediaType, Representation, Transform } from "../api/codec/representation.ts";
import { fieldError, fieldErrorText } from "../api/field-error.ts";
import { status } from "../api/status.ts";
import { metaGroup, protobufMediaType } from "../api/vendor.ts";
import { type Query, queryValue } from "../request/request-info.ts";

/** Maximum number of clauses of an Accept header that are read. Clients send a handful. */
const acceptClausesMax = 32;
/** Maximum number of parameters of a clause that are read. */
const acceptParametersMax = 16;

export interface NegotiateOptions {
  /** The content of the response: an object, a list, a stream of events, or the Status of a failure. */
  readonly endpoint: "object" | "list" | "watch" | "status";
  readonly query: Query;
  readonly userAgent: string | undefined;
  /** Whether `application/cbor` is served. */
  readonly cbor: boolean;
  /** Whether the type converts to a Table; reviews and tokens do not. */
  readonly tables: boolean;
  /** Whether the type has a protobuf form (default). Custom resources have one only as PartialObjectMetadata. */
  readonly protobuf?: boolean;
  /** Returns the type of the list, for messages. */
  readonly listType?: () => string;
}

/** A clause of an Accept header. Parsing sorts the most preferred one first. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Chooses the format of the response to a resource request. A clause that cannot be served is skipped.
 * @throws StatusError 406 if no clause can be served or the transform does not fit the endpoint, 400 for a bad `includeObject`
 */
export function negotiate(accept: string | undefined, options: NegotiateOptions): Representation {
  const served = mediaTypesOf(options);
  if (accept === undefined || accept.trim() === "") return plain("application/json", options, undefined);
  for (const clause of knownAccept(accept)) {
    for (const mediaType of served) {
      if (!matches(clause, mediaType) || !areParametersServed(clause.parameters, mediaType)) continue;
      const transform = transformOf(clause, mediaType, options);
      if (transform === undefined) continue;
      if (mediaType === protobufMediaType && options.protobuf === false && transform.kind !== "partialMetadata")
        continue;
      return { ...plain(mediaType, options, clause), transform };
    }
  }
  const accepted = options.endpoint === "watch" ? served.map((type) => streamTypeOf(type)) : served;
  throw status.notAcceptable(`only the following media types are accepted: ${accepted.join(", ")}`);
}

/** Returns the Content-Type of a response. It does not mention transforms. */
export function contentTypeOf(representation: Representation, watch: boolean): string {
  const { mediaType } = representation;
  if (!watch) return mediaType;
  if (mediaType === protobufMediaType) return `${protobufMediaType};stream=watch`;
  return mediaType === "application/cbor" ? "application/cbor-seq" : mediaType;
}

/** Clauses of recent headers, because a program sends the same few over and over. */
const parsed = new Map<string, readonly AcceptClause[]>();
const parsedMax = 256;
/** Length above which a header is not cached. */
const parsedCharactersMax = 512;

function knownAccept(accept: string): readonly AcceptClause[] {
  const known = parsed.get(accept);
  if (known !== undefined) return known;
  const clauses = parseAccept(accept);
  if (accept.length > parsedCharactersMax) return clauses;
  if (parsed.size >= parsedMax) parsed.clear();
  parsed.set(accept, clauses);
  return clauses;
}

/**
 * Returns the clauses of an Accept header in the order of preference, with types and parameter names in lower case. As
 * upstream, it takes a clause of quality 0 for a late choice and not for a refusal.
 */
export function parseAccept(accept: string): AcceptClause[] {
  const sorted: AcceptClause[] = [];
  for (const text of accept.split(",", acceptClausesMax)) {
    for (const clause of parseClause(text)) {
      let at = sorted.length;
      while (at > 0 && isPreferred(clause, sorted[at - 1] as AcceptClause)) at--;
      sorted.splice(at, 0, clause);
    }
  }
  return sorted;
}

/**
 * Reports whether a clause goes before the one that it follows. As upstream, an exact type goes before a wildcard of any
 * quality. The relation is not transitive, so the result depends on the sorting by insertion.
 */
function isPreferred(clause: AcceptClause, before: AcceptClause): boolean {
  if (clause.quality > before.quality) return true;
  if (clause.type !== "*" && before.type === "*") return true;
  return clause.subtype !== "*" && before.subtype === "*";
}

function parseClause(text: string): AcceptClause[] {
  const [range = "", ...rest] = text.split(";", acceptParametersMax + 1);
  const [type = "", subtype = "*"] = range.trim().toLowerCase().split("/", 2);
  if (type === "") return [];
  const parameters = new Map<string, string>();
  for (const pair of rest) {
    const at = pair.indexOf("=");
    if (at <= 0) continue;
    parameters.set(pair.slice(0, at).trim().toLowerCase(), unquote(pair.slice(at + 1).trim()));
  }
  return [{ type, subtype, quality: qualityOf(parameters.get("q")), parameters }];
}

function unquote(text: string): string {
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

/** As upstream, a quality that is not a number is 0. */
function qualityOf(text: string | undefined): number {
  if (text === undefined || text === "") return 1;
  const quality = Number(text);
  return Number.isFinite(quality) ? quality : 0;
}

const streamTypes: readonly MediaType[] = ["application/json", protobufMediaType];
const documentTypes: readonly MediaType[] = ["application/json", "application/yaml", protobufMediaType];

/** Returns the name of a media type in the refusal of a watch. */
function streamTypeOf(type: MediaType): string {
  return type === "application/cbor" ? "application/cbor-seq" : `${type};stream=watch`;
}

function mediaTypesOf({ endpoint, cbor }: NegotiateOptions): readonly MediaType[] {
  const types = endpoint === "watch" ? streamTypes : documentTypes;
  return cbor ? [...types, "application/cbor"] : types;
}

function matches(clause: AcceptClause, mediaType: MediaType): boolean {
  if (clause.type === "*" && clause.subtype === "*") return true;
  if (clause.type !== "application") return false;
  if (clause.subtype === "*") return true;
  const range = `application/${clause.subtype}`;
  return range === mediaType || (range === "application/cbor-seq" && mediaType === "application/cbor");
}

/** Only watches stream, and YAML has no streams. The server version (`sv`) cannot be chosen. */
export function areParametersServed(parameters: AcceptClause["parameters"], mediaType: MediaType): boolean {
  const stream = parameters.get("stream") ?? "";
  const isServedStream = stream === "watch" && mediaType !== "application/yaml";
  return (stream === "" || isServedStream) && (parameters.get("sv") ?? "") === "";
}

/** Returns undefined if the clause requests a form that is not served here. */
function transformOf(clause: AcceptClause, mediaType: MediaType, options: NegotiateOptions): Transform | undefined {
  const as = clause.parameters.get("as");
  const group = clause.parameters.get("g");
  const version = clause.parameters.get("v");
  if (as === undefined && group === undefined && version === undefined) return { kind: "none" };
  if (options.endpoint === "status") return undefined;
  if (group !== metaGroup || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (as === "Table") {
    const texts = mediaType === "application/json" || mediaType === "application/yaml";
    if (!options.tables || !texts) return undefined;
    return { kind: "table", version, includeObject: includeObjectOf(options.query) };
  }
  if (as !== "PartialObjectMetadata" && as !== "PartialObjectMetadataList") return undefined;
  const list = as === "PartialObjectMetadataList";
  if (!list) refuseObjectForm(options);
  return { kind: "partialMetadata", list, version };
}

/** The opposite, a list form of an object, fails when the object is encoded: a Status has neither form. */
function refuseObjectForm({ endpoint, listType }: NegotiateOptions): void {
  if (endpoint !== "list") return;
  const problem = `you requested PartialObjectMetadata, but the requested object is a list (${listType?.() ?? "List"})`;
  throw status.notAcceptable(problem);
}

function includeObjectOf(query: Query): "None" | "Metadata" | "Object" {
  const value = queryValue(query, "includeObject");
  if (value === "" || value === "Metadata") return "Metadata";
  if (value === "None" || value === "Object") return value;
  const error = fieldError.invalid("includeObject", value, "must be 'Metadata', 'Object', 'None', or empty");
  throw status.badRequest(`Unable to convert to Table as requested: ${fieldErrorText(error)}`);
}

function plain(mediaType: MediaType, options: NegotiateOptions, clause: AcceptClause | undefined): Representation {
  const asked = clause?.parameters.get("pretty") === "1" || isPretty(options);
  const pretty = asked && mediaType === "application/json" && options.endpoint !== "watch";
  return { mediaType, transform: { kind: "none" }, pretty };
}

/** Browsers and curl get indented JSON unless they request another form. */
function isPretty({ query, userAgent }: NegotiateOptions): boolean {
  const value = queryValue(query, "pretty");
  if (value !== "") return ["1", "t", "T", "true", "TRUE", "True"].includes(value);
  return ["curl", "Wget", "Mozilla/5.0"].some((prefix) => userAgent?.startsWith(prefix));
}
