import { stringifyJson } from "../../api/codec/json.ts";
import { type FieldError, fieldErrorText } from "../../api/field-error.ts";
import { quoteText } from "../../api/go-literal.ts";
import { goInterfaceType } from "../../api/go-text.ts";
import { apiVersionOf, documentTypeText, type GroupVersion, parseApiVersion } from "../../api/gvk.ts";
import type { SignalSource } from "../../api/joint-call.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { textOf } from "../../api/json-reading.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { shortened } from "../../api/shortened.ts";
import { status } from "../../api/status.ts";
import type { WebhookClientConfig } from "../../api/types/admissionregistration-v1.ts";
import { validateAnnotations, validateLabels } from "../../api/validation/labels.ts";
import { decodeAnswer } from "../../client/webhook/decode-answer.ts";
import type { WebhookFinder } from "../../client/webhook/webhook-client.ts";
import type { Eventual } from "../../process/eventual.ts";

const group = "apiextensions.k8s.io";
const kind = "ConversionReview";
const reviewVersions = ["v1", "v1beta1"] as const;
type ReviewVersion = (typeof reviewVersions)[number];
const reviewKinds = reviewVersions.map((version) => ({ group, version, kind }));
const timeoutMs = 30_000;
/** Converted objects may be larger than those that were sent. */
const answerBytesMax = 32 * 1024 * 1024;

/** The way in which a conversion failed, as the metric names it. */
export type ConversionFailure =
  | "conversion_webhook_call_failure"
  | "conversion_webhook_malformed_response_failure"
  | "conversion_webhook_partial_response_failure"
  | "conversion_webhook_invalid_converted_object_failure";

/** One call of a conversion webhook, as metrics count it. */
export interface ObservedConversion {
  /** Name of the definition. */
  readonly definition: string;
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  /** Undefined for a call that has succeeded. */
  readonly failure: ConversionFailure | undefined;
}

export interface WebhookConversionParts {
  /** Name of the definition. */
  readonly definition: string;
  readonly clients: WebhookFinder;
  readonly clientConfig: WebhookClientConfig;
  /** `conversionReviewVersions`: the first one that is known is sent. */
  readonly reviewVersions: readonly string[];
  /** Told of each call, and of how it failed. */
  readonly observe?: ((conversion: ObservedConversion) => void) | undefined;
}

/**
 * Returns a function that converts objects to another version by one call of a webhook. Objects that already have the
 * version are unchanged. The metadata remains that of the original, except for labels and annotations. The signal of a
 * request also aborts at its deadline, so the webhook never gets more than the remaining time.
 */
export function webhookConversion(
  parts: WebhookConversionParts,
): (objects: readonly KubeObject[], to: GroupVersion, signalOf?: SignalSource) => Eventual<readonly KubeObject[]> {
  return (objects, to, signalOf) => {
    const differing = objects.filter(({ apiVersion }) => apiVersion !== apiVersionOf(to));
    return differing.length === 0 ? objects : convert(parts, objects, differing, to, signalOf?.());
  };
}

/** @throws StatusError 500 with upstream's text */
async function convert(
  parts: WebhookConversionParts,
  objects: readonly KubeObject[],
  differing: readonly KubeObject[],
  to: GroupVersion,
  signal: AbortSignal | undefined,
): Promise<readonly KubeObject[]> {
  const startMs = performance.now();
  const observe = (failure: ConversionFailure | undefined) =>
    parts.observe?.({
      definition: parts.definition,
      from: versionOf(differing[0] as KubeObject),
      to: to.version,
      seconds: (performance.now() - startMs) / 1_000,
      failure,
    });
  const prefix = `conversion webhook for ${kindText(differing[0] as KubeObject)}`;
  try {
    const answered = await ask(parts, differing, to, signal);
    const restored = restoreAll(differing, answered, to);
    observe(undefined);
    const replaced = new Map(differing.map((object, at) => [object, restored[at] as KubeObject]));
    return objects.map((object) => replaced.get(object) ?? object);
  } catch (error) {
    if (!(error instanceof ConversionProblem)) throw error;
    observe(error.failure);
    throw status.unconverted(`${prefix} ${error.message}`);
  }
}

function versionOf({ apiVersion = "" }: KubeObject): string {
  return parseApiVersion(apiVersion)?.version ?? apiVersion;
}

/** A failure with the part of its text that follows the name of the webhook. */
class ConversionProblem extends Error {
  readonly failure: ConversionFailure;

  constructor(message: string, failure: ConversionFailure) {
    super(message);
    this.failure = failure;
  }
}

async function ask(
  { clients, clientConfig, reviewVersions: accepted }: WebhookConversionParts,
  objects: readonly KubeObject[],
  to: GroupVersion,
  signal: AbortSignal | undefined,
): Promise<readonly JsonValue[]> {
  const version = accepted.find(isReviewVersion);
  if (version === undefined) throw status.unconverted("no supported conversion review versions");
  const uid = crypto.randomUUID();
  const review = {
    kind,
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion: apiVersionOf(to), objects },
    response: { uid: "", convertedObjects: null, result: { metadata: {} } },
  };
  let answer: JsonObject;
  try {
    const body = stringifyJson(review as unknown as JsonObject);
    const call = { body, timeoutMs, answerBytesMax, signal };
    answer = decodeAnswer(await clients.of(clientConfig).post(call), reviewKinds);
  } catch (error) {
    throw new ConversionProblem(`failed: ${(error as Error).message}`, "conversion_webhook_call_failure");
  }
  const converted = convertedIn(answer, version, uid);
  if (converted.length === objects.length) return converted;
  throw new ConversionProblem(
    `returned ${converted.length} objects, expected ${objects.length}`,
    "conversion_webhook_partial_response_failure",
  );
}

function isReviewVersion(version: string): version is ReviewVersion {
  return (reviewVersions as readonly string[]).includes(version);
}

/** Only v1 requires the right type and uid. */
function convertedIn(answer: JsonObject, version: ReviewVersion, uid: string): readonly JsonValue[] {
  const malformed = (text: string) =>
    new ConversionProblem(`failed: ${text}`, "conversion_webhook_malformed_response_failure");
  if (version === "v1") {
    const { apiVersion = "", kind: answered = "" } = answer;
    if (apiVersion !== `${group}/v1` || answered !== kind) {
      throw malformed(
        `expected webhook response of ${group}/v1, Kind=${kind}, got ${shortened(documentTypeText(String(apiVersion), String(answered)))}`,
      );
    }
  }
  const { response } = answer;
  if (!isJsonObject(response)) throw malformed("no response provided");
  if (version === "v1" && response["uid"] !== uid) {
    throw malformed(`expected response.uid=${quoteText(uid)}, got ${quoteText(shortened(textOf(response["uid"])))}`);
  }
  const result = isJsonObject(response["result"]) ? response["result"] : {};
  if (result["status"] !== "Success") {
    const message = textOf(result["message"]);
    throw malformed(
      message === "" ? `response.result.status was '${shortened(textOf(result["status"]))}', not 'Success'` : message,
    );
  }
  const { convertedObjects } = response;
  return Array.isArray(convertedObjects) ? convertedObjects : [];
}

function restoreAll(originals: readonly KubeObject[], answered: readonly JsonValue[], to: GroupVersion): KubeObject[] {
  const isOnly = originals.length === 1;
  return originals.map((original, at) => {
    const converted = answered[at] as JsonValue;
    const invalid = (text: string, what = "object") => {
      const where = isOnly ? `returned invalid ${what}` : `returned invalid converted object at index ${at}`;
      return new ConversionProblem(`${where}: ${text}`, "conversion_webhook_invalid_converted_object_failure");
    };
    const wrongType = typeProblem(original, converted, to);
    if (wrongType !== undefined) throw invalid(wrongType, "object at index 0");
    const object = converted as unknown as KubeObject;
    const other = identityProblem(original, object);
    if (other !== undefined) throw invalid(other);
    const restored = restoredMetadata(original, converted as JsonObject);
    if (typeof restored !== "string") return { ...object, metadata: restored } as unknown as KubeObject;
    if (isOnly) throw invalid(restored, "metadata");
    throw new ConversionProblem(
      `returned invalid metadata in object at index ${at}: ${restored}`,
      "conversion_webhook_invalid_converted_object_failure",
    );
  });
}

function typeProblem(original: KubeObject, converted: JsonValue, to: GroupVersion): string | undefined {
  if (!isJsonObject(converted) || textOf(converted["kind"]) === "") {
    return `Object 'Kind' is missing in '${shortened(stringifyJson(converted))}'`;
  }
  const got = textOf(converted["apiVersion"]);
  if (got !== apiVersionOf(to))
    return `invalid groupVersion (expected ${apiVersionOf(to)}, received ${shortened(got)})`;
  if (converted["kind"] === original.kind) return undefined;
  return `invalid kind (expected ${original.kind}, received ${shortened(textOf(converted["kind"]))})`;
}

const identity = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;

function identityProblem({ metadata }: KubeObject, converted: KubeObject): string | undefined {
  const given = isJsonObject(converted.metadata as unknown as JsonValue) ? converted.metadata : {};
  for (const [field, word] of identity) {
    const [expected, got] = [metadata[field] ?? "", given[field] ?? ""];
    if (expected !== got)
      return `must have the same ${word}: ${expected} != ${shortened(typeof got === "string" ? got : stringifyJson(got))}`;
  }
  return undefined;
}

/** The metadata of the original with the labels and annotations of the answer, or what is wrong with these. */
function restoredMetadata(original: KubeObject, converted: JsonObject): JsonObject | string {
  const given = converted["metadata"];
  if (given === undefined) return "missing metadata in converted object";
  if (!isJsonObject(given)) return `invalid metadata of type ${goInterfaceType(given)} in converted object`;
  const metadata = { ...original.metadata } as unknown as JsonObject;
  for (const field of ["labels", "annotations"] as const) {
    const texts = given[field];
    if (texts === undefined || texts === null) {
      delete metadata[field];
      continue;
    }
    if (!isJsonObject(texts)) return `invalid metadata.${field} of type ${goInterfaceType(texts)} in converted object`;
    for (const [key, value] of Object.entries(texts)) {
      if (typeof value === "string") continue;
      return `metadata.${field}[${shortened(key)}] must be a string, but is ${goInterfaceType(value)} in converted object`;
    }
    const problem = changedTextsProblem(field, original, texts as Record<string, string>);
    if (problem !== undefined) return problem;
    metadata[field] = texts;
  }
  return metadata;
}

/** Only changes are checked. */
function changedTextsProblem(
  field: "labels" | "annotations",
  { metadata }: KubeObject,
  texts: Readonly<Record<string, string>>,
): string | undefined {
  const before = metadata[field] ?? {};
  const isSame =
    Object.keys(before).length === Object.keys(texts).length &&
    Object.entries(texts).every(([key, value]) => before[key] === value);
  if (isSame) return undefined;
  const errors =
    field === "labels" ? validateLabels(texts, "metadata.labels") : validateAnnotations(texts, "metadata.annotation");
  return aggregateText(errors);
}

function aggregateText(errors: readonly FieldError[]): string | undefined {
  const texts = [...new Set(errors.map(fieldErrorText))];
  return texts.length < 2 ? texts[0] : `[${texts.join(", ")}]`;
}

function kindText({ apiVersion, kind: name }: KubeObject): string {
  return documentTypeText(apiVersion, name);
}
