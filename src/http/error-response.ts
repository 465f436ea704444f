import { type Status, type StatusError, StatusError as StatusErrorClass, status, TextError } from "../api/status.ts";
import type { Exchange, HeaderList, Reply } from "../request/exchange.ts";

export interface EncodedStatus {
  readonly body: Uint8Array;
  readonly contentType: string;
}
/** Encodes a Status in the type that the client accepts. */
export type EncodeStatus = (status: Status, exchange: Exchange) => EncodedStatus;

const encoder = new TextEncoder();

/** Reports whether an error is an answer to the client, not a fault of the server. */
export function isAnswer(error: unknown): error is StatusError | TextError {
  return error instanceof StatusErrorClass || error instanceof TextError;
}

/** Turns an error into a response. This is the only place that does. */
export function errorReply(
  error: StatusError | TextError,
  encode: (status: Status) => EncodedStatus = statusAsJson,
): Reply {
  if (error instanceof TextError) return textReply(error.code, error.message, error.headers);
  const { body, contentType } = encode(error.status);
  const headers: [string, string][] = [["content-type", contentType]];
  const retryAfter = error.status.details?.retryAfterSeconds ?? 0;
  if (retryAfter > 0) headers.push(["retry-after", String(retryAfter)]);
  return { kind: "reply", code: error.code, headers, body };
}

/** Returns the answer to a fault of the server. It contains the id to find the cause in the log, but not the cause. */
export function faultError(auditId: string): StatusError {
  return status.internal(`the request ${auditId} failed unexpectedly; the server log has the cause`);
}

/** The form of errors for clients that accept no form that is served. */
function statusAsJson(value: Status): EncodedStatus {
  return { body: encoder.encode(JSON.stringify(value, undefined, 2)), contentType: "application/json" };
}

/** Returns a plain text response, as upstream does outside the resource API. */
export function textReply(code: number, text: string, headers: HeaderList = []): Reply {
  return {
    kind: "reply",
    code,
    headers: [["content-type", "text/plain; charset=utf-8"], ["x-content-type-options", "nosniff"], ...headers],
    body: encoder.encode(text),
  };
}
