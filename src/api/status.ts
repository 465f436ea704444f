import { type FieldError, fieldErrorText } from "./field-error.ts";
import { quoteText } from "./go-literal.ts";
import { type GroupResource, groupKindText, groupResourceText } from "./gvk.ts";
import { metaGroup } from "./vendor.ts";

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}
/** meta/v1 Status in its wire order. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** The only error that becomes a response unchanged. Any other error becomes a 500 and a log line. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message ?? "");
    this.name = "StatusError";
    this.status = status;
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): string {
    return this.status.reason ?? "";
  }
}

/** An answer that upstream gives as plain text instead of a Status: the router's 404 and the overload 429. */
export class TextError extends Error {
  readonly code: number;
  readonly headers: readonly (readonly [string, string])[];

  constructor(code: number, text: string, headers: readonly (readonly [string, string])[] = []) {
    super(text);
    this.name = "TextError";
    this.code = code;
    this.headers = headers;
  }
}

export interface ObjectRef extends GroupResource {
  readonly name: string;
}
export interface KindRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** Errors that clients can see. Messages are upstream's to the letter, because clients and tests match on them. */
export const status = {
  notFound: (ref: ObjectRef) =>
    failure(404, "NotFound", `${groupResourceText(ref)} ${quote(ref.name)} not found`, detailsOf(ref)),
  resourceNotServed: () => failure(404, "NotFound", "the server could not find the requested resource", {}),
  pathNotFound: () => new TextError(404, "404 page not found\n"),
  alreadyExists: (ref: ObjectRef) =>
    failure(409, "AlreadyExists", `${groupResourceText(ref)} ${quote(ref.name)} already exists`, detailsOf(ref)),
  alreadyExistsTerminating: (ref: ObjectRef) =>
    failure(
      409,
      "AlreadyExists",
      `object is being deleted: ${groupResourceText(ref)} ${quote(ref.name)} already exists`,
      detailsOf(ref),
    ),
  generateNameExhausted: (ref: ObjectRef) =>
    failure(
      409,
      "AlreadyExists",
      `${groupResourceText(ref)} ${quote(ref.name)} already exists, the server was not able to generate a unique name for the object`,
      { ...detailsOf(ref), retryAfterSeconds: 1 },
    ),
  conflict: (ref: ObjectRef, why: string) =>
    failure(
      409,
      "Conflict",
      `Operation cannot be fulfilled on ${groupResourceText(ref)} ${quote(ref.name)}: ${why}`,
      detailsOf(ref),
    ),
  staleResourceVersion: (ref: ObjectRef) =>
    status.conflict(ref, "the object has been modified; please apply your changes to the latest version and try again"),
  /** An apply changes fields of other managers. */
  applyConflict: (message: string, causes: readonly StatusCause[]) => failure(409, "Conflict", message, { causes }),
  /** Delete preconditions name the Kind, not the resource. */
  preconditionFailed: (ref: KindRef, why: string) =>
    failure(409, "Conflict", `Operation cannot be fulfilled on ${groupKindText(ref)} ${quote(ref.name)}: ${why}`, {
      name: ref.name,
      ...groupField(ref.group),
      kind: ref.kind,
    }),
  invalid: (ref: KindRef, errors: readonly FieldError[]) => {
    const texts = [...new Set(errors.map(fieldErrorText))];
    const joined = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
    return failure(422, "Invalid", `${groupKindText(ref)} ${quote(ref.name)} is invalid: ${joined}`, {
      ...(ref.name === "" ? {} : { name: ref.name }),
      ...groupField(ref.group),
      ...(ref.kind === "" ? {} : { kind: ref.kind }),
      causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
    });
  },
  /** As for every other body, the code is 400; upstream has 422 here only. */
  unfitPatch: (errors: readonly FieldError[]) => {
    const error = status.invalid({ group: "", kind: "", name: "" }, errors);
    return new StatusError({ ...error.status, reason: "BadRequest", code: 400 });
  },
  /** Options of a request (ListOptions, DeleteOptions …) that contradict each other. */
  invalidOptions: (kind: string, errors: readonly FieldError[]) =>
    status.invalid({ group: metaGroup, kind, name: "" }, errors),
  badRequest: (message: string) => failure(400, "BadRequest", message),
  unauthorized: () => failure(401, "Unauthorized", "Unauthorized"),
  forbidden: (ref: ObjectRef, why: string, causes?: readonly StatusCause[]) =>
    failure(
      403,
      "Forbidden",
      `${groupResourceText(ref)}${ref.name === "" ? "" : ` ${quote(ref.name)}`} is forbidden: ${why}`,
      { ...detailsOf(ref), ...(causes === undefined ? {} : { causes }) },
    ),
  forbiddenPath: (message: string) => failure(403, "Forbidden", `forbidden: ${message}`, {}),
  methodNotSupported: (verb: string, ref: GroupResource) =>
    failure(405, "MethodNotAllowed", `${verb} is not supported on resources of kind ${quote(groupResourceText(ref))}`, {
      ...groupField(ref.group),
      kind: ref.resource,
    }),
  methodNotAllowed: () =>
    failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}),
  notAcceptable: (message: string) => failure(406, "NotAcceptable", message),
  unsupportedMediaType: (accepted: readonly string[]) =>
    failure(
      415,
      "UnsupportedMediaType",
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
    ),
  requestEntityTooLarge: (limitBytes: number) =>
    failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limitBytes}`),
  /** 413 for a document with more scalars, lists and objects than `limit`. */
  tooManyValues: (limit: number) =>
    failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit} values`),
  tooManyRequests: (message: string, retryAfterSeconds: number) =>
    failure(429, "TooManyRequests", message, { retryAfterSeconds }),
  overloaded: (retryAfterSeconds = 1) =>
    new TextError(429, "Too many requests, please try again later.\n", [["retry-after", String(retryAfterSeconds)]]),
  /** 410: the client must list again. `continueToken` continues a paged list without consistency. */
  expired: (message: string, continueToken?: string) =>
    new StatusError({
      kind: "Status",
      apiVersion: "v1",
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: "Failure",
      message,
      reason: "Expired",
      code: 410,
    }),
  /** The 422 without details for a JSON patch operation that fails. */
  patchNotApplicable: () =>
    failure(422, "Invalid", "the server rejected our request due to an error in our request", {}),
  internal: (message: string) =>
    failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] }),
  /** An object that exists but whose bytes cannot be read. */
  storeReadError: (ref: ObjectRef, why: string) =>
    failure(
      500,
      "StoreReadError",
      `failed to read ${groupResourceText(ref)} ${quote(ref.name)} from the storage: ${why}`,
      {
        ...detailsOf(ref),
        causes: [{ reason: "UnexpectedServerResponse", message: why }],
      },
    ),
  /** The router's answer to an Accept header that a path cannot satisfy. */
  noRouteForAccept: (produced: readonly string[]) =>
    failure(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${produced.join(", ")}`, {}),
  /** The router's answer to a Content-Type that a path does not accept. */
  noRouteForMediaType: () => failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {}),
  /** Errors that upstream does not convert: 500 without a reason. */
  unconverted: (message: string) =>
    new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 }),
  serverTimeout: (operation: string, ref: GroupResource) =>
    failure(
      500,
      "ServerTimeout",
      `The ${operation} operation against ${groupResourceText(ref)} could not be completed at this time, please try again.`,
      { name: operation, ...groupField(ref.group), kind: ref.resource, retryAfterSeconds: 2 },
    ),
  serviceUnavailable: (message: string, retryAfterSeconds?: number) =>
    failure(503, "ServiceUnavailable", message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds }),
  timeout: (text: string, retryAfterSeconds?: number) =>
    failure(504, "Timeout", `Timeout: ${text}`, retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  /** A change of the cluster that was not made, or may not have been. The causes are for programs. */
  clusterChange: (
    [code, reason]: readonly [code: number, reason: string],
    message: string,
    causes: readonly StatusCause[],
    retryAfterSeconds?: number,
  ) => failure(code, reason, message, { causes, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }),
  tooLargeResourceVersion: (asked: number, current: number) =>
    failure(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    }),
} as const;

/** Returns the body of a successful delete and of other calls without an object. */
export function successStatus(details?: StatusDetails): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    ...(details === undefined ? {} : { details }),
  };
}

function failure(code: number, reason: string, message: string, details?: StatusDetails): StatusError {
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code,
  });
}

function detailsOf({ name, group, resource }: ObjectRef): StatusDetails {
  return { ...(name === "" ? {} : { name }), ...groupField(group), kind: resource };
}

function groupField(group: string): { group?: string } {
  return group === "" ? {} : { group };
}

/** Quotes a name as Go's %q. JSON quoting differs only for characters that names cannot contain. */
function quote(name: string): string {
  return quoteText(name);
}
