import { CborDecodeError, decodeCborInSteps } from "../../api/codec/cbor.ts";
import { JsonSyntaxError, parseJsonInSteps } from "../../api/codec/json.ts";
import type { Representation } from "../../api/codec/representation.ts";
import { parseYamlInSteps, yamlValuesMax } from "../../api/codec/yaml.ts";
import { YamlSyntaxError } from "../../api/codec/yaml-syntax.ts";
import { goInterfaceType } from "../../api/go-text.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import { cloneJson, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectValuesMax, ordinaryBytesMax } from "../../api/object-extent.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import { inServedVersion } from "../../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import { type ApplyOutcome, BadApplyError } from "../../apply/apply-object.ts";
import { kindText, objectText } from "../../apply/object-text.ts";
import { TrackingError } from "../../apply/tracking-error.ts";
import { runSliced } from "../../process/sliced.ts";
import { nextTurn } from "../../process/turn.ts";
import { alreadyTracked, ownershipOfDocument } from "../../registry/field-ownership.ts";
import { setManagedFields } from "../../registry/system-fields.ts";
import { type HttpResponse, header } from "../../request/exchange.ts";
import { baseMediaType } from "../decode-body.ts";
import { authorizeCreate } from "./authorize-create.ts";
import type { ResourceCall } from "./endpoint.ts";
import { repeatedKeysError } from "./object-body.ts";
import { alignNamespace, requireSameName } from "./object-identity.ts";
import { toStoredVersion } from "./stored-version.ts";
import { throughView } from "./through-view.ts";
import { unstructuredObject } from "./unstructured-object.ts";
import type { WriteOptions } from "./write-options.ts";
import { objectReply, writeContext } from "./write-reply.ts";

/** An applied document, and its duplicate keys. */
interface AppliedBody {
  readonly document: JsonObject;
  readonly repeated: readonly string[];
}

/** A body of any type, and its duplicate keys. */
interface ParsedBody {
  readonly value: JsonValue;
  readonly repeated: readonly string[];
}

/**
 * Answers a server-side apply, which creates the object if it does not exist. Tries again with the newer state if another
 * writer was faster.
 */
export async function apply(
  call: ResourceCall,
  options: WriteOptions,
  representation: Representation,
): Promise<HttpResponse> {
  const { exchange, request, info, registry, strategy, view } = call;
  const bytes = await exchange.request.body();
  const isLarge = bytes.length > ordinaryBytesMax;
  if (isLarge) await nextTurn();
  const context = writeContext(call, options);
  const warnings = exchange.warnings.length;
  // A missing object is reported before mistakes in the body.
  let body: AppliedBody | undefined;
  const change = async (live: KubeObject | undefined) => {
    exchange.warnings.length = warnings;
    body ??= await runSliced(appliedBody(bytes, header(exchange.request, "content-type"), options));
    if (isLarge) await nextTurn();
    return merged(call, live, body, options);
  };
  const writeOptions = { strategy, subresource: request.subresource, reapplies: true, tracker: alreadyTracked };
  if (request.subresource !== "" && !strategy.allowCreateOnUpdate) {
    const through = throughView(call, change, alreadyTracked);
    const { namespace, name } = request;
    const all = { ...writeOptions, ...through.options };
    return objectReply(
      call,
      200,
      await registry.update(namespace, name, through.transform, context, all),
      representation,
    );
  }
  const make = async (stored: KubeObject | undefined) =>
    toStoredVersion(await change(stored && (await inServedVersion(stored, info))), info);
  const result = await registry.upsert(request.namespace, request.name, make, context, {
    ...writeOptions,
    makesAnew: true,
    authorize: () => authorizeCreate(call),
  });
  return objectReply(call, result.created ? 201 : 200, result, representation);

  async function merged(
    target: ResourceCall,
    live: KubeObject | undefined,
    { document, repeated }: AppliedBody,
    { fieldManager, fieldValidation, force }: WriteOptions,
  ): Promise<KubeObject> {
    const version = view?.info ?? info;
    const ownership = view === undefined ? registry.ownership : ownershipOfDocument(view.info);
    const writer = {
      manager: fieldManager,
      subresource: request.subresource,
      version,
      nowMs: target.parts.clock.nowMs(),
      force,
    };
    const outcome = await ownership.apply(live, document, writer).catch((error: unknown) => refused(error, info));
    if (outcome.kind === "conflict") {
      const causes = outcome.causes.map(({ type, message, field }) => ({ reason: type, message, field }));
      throw status.applyConflict(outcome.message, causes);
    }
    const isCustomScale = view !== undefined && info.form.kind === "structural";
    if (isCustomScale && outcome.object !== undefined) refuseCustomScale(document, version);
    if (repeated.length > 0 && fieldValidation === "Strict") {
      throw status.badRequest(
        `error strict decoding YAML: error converting YAML to JSON: ${repeatedKeysError(repeated).join()}`,
      );
    }
    if (fieldValidation === "Warn") exchange.warnings.push(...repeated);
    if (isLarge) await nextTurn();
    const object = typed(outcome, live, target, document);
    if (live === undefined) refuseUid(target, object);
    alignNamespace(target, object);
    requireSameName(target, object);
    return object;
  }
}

/**
 * Refuses an apply that would change the Scale of a custom kind, which upstream cannot convert. @throws StatusError 500
 */
function refuseCustomScale(document: JsonObject, version: ResourceInfo): never {
  const why = `request to convert CR to an invalid group/version: ${apiVersionOf(version)}`;
  throw status.unconverted(`failed to convert new object (${objectText(document)}) to proper version: ${why}`);
}

/** Returns the merged document as an object of its kind, with its managedFields. */
function typed(
  outcome: Extract<ApplyOutcome, { kind: "merged" }>,
  live: KubeObject | undefined,
  { view, info }: ResourceCall,
  applied: JsonObject,
): KubeObject {
  const version = view?.info ?? info;
  const document = outcome.object ?? cloneJson((live ?? {}) as unknown as JsonObject);
  // Upstream drops nulls when it decodes an object, and what it applies is not decoded.
  const { object } = converted(applied, () =>
    unstructuredObject(document, { gvk: version, form: version.form }, { keepsNulls: true }),
  );
  setManagedFields(object, outcome.managedFields);
  return object;
}

function refuseUid({ registry, request, info }: ResourceCall, { metadata: { uid = "" } }: KubeObject): void {
  if (uid === "") return;
  throw status.conflict(
    registry.ref(request.name, info),
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}

/** Makes a typed object of one that `applied` is part of. @throws StatusError 500 */
function converted<T>(applied: JsonObject, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof DecodeTypeError)) throw error;
    const why = `unable to convert unstructured object to ${kindText(applied)}: ${error.message}`;
    throw status.unconverted(`failed to convert new object (${objectText(applied)}) to proper version: ${why}`);
  }
}

function refused(error: unknown, { sensitive }: ResourceInfo): never {
  const text = ({ message }: Error) => (sensitive ? message.replaceAll(foundValue, "") : message);
  if (error instanceof BadApplyError) throw status.badRequest(text(error));
  if (error instanceof TrackingError || error instanceof DecodeTypeError) throw status.unconverted(text(error));
  throw error;
}

/** The end of a type error, which shows the value. */
const foundValue = /, got .*/g;

/** @throws StatusError 400 */
function* appliedBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  { fieldValidation }: WriteOptions,
): Generator<void, AppliedBody> {
  try {
    const strict = fieldValidation !== "Ignore";
    const isCbor = baseMediaType(contentType) === "application/apply-patch+cbor";
    const { value, repeated } = isCbor
      ? { value: yield* decodeCborInSteps(bytes, objectValuesMax), repeated: [] }
      : yield* parsed(bytes, strict);
    if (value === null) return { document: {}, repeated };
    if (!isJsonObject(value)) throw undecodable(notAMap(value));
    return { document: value, repeated };
  } catch (error) {
    if (error instanceof CborDecodeError) throw undecodable(error.message);
    if (error instanceof YamlSyntaxError) throw undecodable(`error converting YAML to JSON: ${error.message}`);
    throw error;
  }
}

function undecodable(why: string): Error {
  return status.badRequest(`error decoding YAML: ${why}`);
}

function notAMap(value: JsonValue): string {
  const type = Array.isArray(value) ? "array" : goInterfaceType(value) === "bool" ? "bool" : typeof value;
  const text = `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  return `error unmarshaling JSON: while decoding JSON: ${text}`;
}

/** Most clients send JSON, which is valid YAML. Errors in other YAML name the line of a duplicate key. */
function* parsed(bytes: Uint8Array, strict: boolean): Generator<void, ParsedBody> {
  if (bytes[0] !== openingBrace) return yield* parsedYaml(bytes, strict);
  const text = firstObject(bytes);
  try {
    const { value, duplicates } = yield* parseJsonInSteps(text, { strict, valuesMax: objectValuesMax });
    if (duplicates.length === 0) return { value, repeated: [] };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  return yield* parsedYaml(text, strict);
}

function* parsedYaml(bytes: Uint8Array, strict: boolean): Generator<void, ParsedBody> {
  const { value, duplicateLines } = yield* parseYamlInSteps(bytes, { strict, valuesMax: yamlValuesMax });
  return { value, repeated: duplicateLines };
}

/** As upstream does, read only the first document. */
function firstObject(bytes: Uint8Array): Uint8Array {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === openingBrace) depth++;
    else if (byte === closingBrace && --depth === 0) return bytes.subarray(0, at + 1);
  }
  return bytes;
}

const [openingBrace, closingBrace, quote, backslash] = [0x7b, 0x7d, 0x22, 0x5c];
