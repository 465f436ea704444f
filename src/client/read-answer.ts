import { JsonSyntaxError, parseJson } from "../api/codec/json.ts";
import { isJsonObject, type JsonValue } from "../api/json.ts";
import { type Status, StatusError } from "../api/status.ts";
import { NoAnswerError, type TransportAnswer } from "./transport.ts";

/** Size limit of answers. Longer collections are listed in pages. */
export const answerBytesMax = 256 * 1024 * 1024;
/** Length of the message made from another body, such as a proxy's page. */
const messageCharactersMax = 1_024;

/** Bytes of an error that are read for its text. */
const refusalBytesMax = 1024 * 1024;

const decoder = new TextDecoder();

/** Returns the JSON of a success. @throws StatusError for any other answer, NoAnswerError when it cannot be used */
export async function readAnswer(answer: TransportAnswer): Promise<JsonValue> {
  const bytes = await readBounded(answer.body, answerBytesMax);
  if (answer.code >= 300) throw refusalOf(answer, bytes);
  try {
    return parseJson(bytes, { strict: false }).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new NoAnswerError(`the answer is no JSON: ${error.message}`);
    throw error;
  }
}

/** Returns the error of an unsuccessful answer. */
export async function readRefusal(answer: TransportAnswer): Promise<StatusError> {
  return refusalOf(answer, await readBounded(answer.body, answerBytesMax));
}

/** Returns a decoded Status as an error. */
export function statusErrorOf(value: JsonValue, code: number): StatusError | undefined {
  if (!isJsonObject(value) || value["kind"] !== "Status") return undefined;
  const status = value as unknown as Status;
  return new StatusError(typeof status.code === "number" ? status : { ...status, code });
}

const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function refusalOf({ code, retryAfterSeconds }: TransportAnswer, bytes: Uint8Array): StatusError {
  const text = decoder.decode(bytes.subarray(0, refusalBytesMax));
  const known = text.startsWith("{") ? statusErrorOf(parsed(bytes), code) : undefined;
  if (known !== undefined) return known;
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: text.trim().slice(0, messageCharactersMax) || `the server answered ${code}`,
    reason: reasons[code] ?? "Unknown",
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
    code,
  });
}

function parsed(bytes: Uint8Array): JsonValue {
  try {
    return parseJson(bytes, { strict: false }).value;
  } catch {
    return null;
  }
}

async function readBounded(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw new NoAnswerError(`the answer is longer than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, length);
}
