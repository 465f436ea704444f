import { parseJson } from "../../api/codec/json.ts";
import { parseYaml } from "../../api/codec/yaml.ts";
import type { GroupVersionKind } from "../../api/gvk.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { jsonTypeName } from "../../api/json-type-name.ts";
import { shortened } from "../../api/shortened.ts";
import type { WebhookAnswer } from "./webhook-client.ts";

/** An answer that cannot be used. The message is that of upstream's client. */
export class WebhookAnswerError extends Error {
  override readonly name = "WebhookAnswerError";
  /** HTTP status of the answer; undefined if only its document is wrong. */
  readonly code: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}

/** Bytes of a text answer that an error shows. */
const shownBytesMax = 2_048;
const scheme = 'in scheme "pkg/runtime/scheme.go:111"';

/**
 * Returns the document of an answer, which must be one of `kinds`. A missing kind or version stays missing; the caller
 * checks it if it matters.
 * @throws WebhookAnswerError
 */
export function decodeAnswer(answer: WebhookAnswer, kinds: readonly GroupVersionKind[]): JsonObject {
  const { code, contentType, body } = answer;
  if (code < 200 || code > 206) throw refusal(answer);
  if (body.byteLength === 0) {
    throw new WebhookAnswerError(`0-length response with status code: ${code} and content type: ${contentType}`);
  }
  const value = parsed(body);
  if (!isJsonObject(value)) {
    const text = `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
    throw new WebhookAnswerError(`couldn't get version/kind; json parse error: ${text}`);
  }
  const { kind = "", apiVersion = "" } = value;
  if (kind === "" && apiVersion === "") return value;
  const known = kinds.some((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  if (known || kind === "" || apiVersion === "") return value;
  throw new WebhookAnswerError(`no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)} ${scheme}`);
}

function parsed(body: Uint8Array): JsonValue {
  try {
    return parseJson(body, { strict: false }).value;
  } catch {
    try {
      return parseYaml(body, { strict: false }).value;
    } catch (error) {
      throw new WebhookAnswerError(
        `couldn't get version/kind; json parse error: ${shortened((error as Error).message)}`,
      );
    }
  }
}

function quoted(value: JsonValue): string {
  return shortened(JSON.stringify(value));
}

/** Returns the error of a refusal: the Status in the answer, otherwise the code, with the text of a 5xx. */
function refusal({ code, contentType, body }: WebhookAnswer): WebhookAnswerError {
  const told = statusMessage(body);
  if (told !== undefined) return new WebhookAnswerError(told.message, told.code || code);
  const isText = contentType === "" || contentType.startsWith("text/");
  const shown = Buffer.from(body.subarray(0, shownBytesMax)).toString("utf8").trim();
  return new WebhookAnswerError(codeText(code, isText ? shown : "unknown"), code);
}

function statusMessage(body: Uint8Array): { message: string; code: number } | undefined {
  if (body.byteLength === 0) return undefined;
  try {
    const { value } = parseJson(body, { strict: false });
    if (!isJsonObject(value) || value["kind"] !== "Status" || value["status"] !== "Failure") return undefined;
    const { message, code } = value;
    return { message: typeof message === "string" ? message : "", code: typeof code === "number" ? code : 0 };
  } catch {
    return undefined;
  }
}

const texts = new Map([
  [400, "the server rejected our request for an unknown reason"],
  [401, "the server has asked for the client to provide credentials"],
  [404, "the server could not find the requested resource"],
  [405, "the server does not allow this method on the requested resource"],
  [409, "the server reported a conflict"],
  [422, "the server rejected our request due to an error in our request"],
  [429, "the server has received too many requests and has asked us to try again later"],
  [503, "the server is currently unable to handle the request"],
  [504, "the server was unable to return a response in the time allotted, but may still be processing the request"],
]);

function codeText(code: number, shown: string): string {
  const text = texts.get(code);
  if (text !== undefined) return text;
  if (code === 403 || code === 415) return shown;
  if (code === 406) {
    const isEmpty = shown === "" || shown === "unknown";
    return isEmpty ? "the server was unable to respond with a content type that the client supports" : shown;
  }
  if (code >= 500) return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${code} but did not return more information`;
}
