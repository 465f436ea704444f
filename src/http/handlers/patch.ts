import { compareTexts } from "../../api/code-points.ts";
import { JsonSyntaxError, type ParsedDocument, parseJsonInSteps } from "../../api/codec/json.ts";
import { fieldError } from "../../api/field-error.ts";
import { goText } from "../../api/go-text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import {
  countObjectValues,
  hasMoreValues,
  objectValuesMax,
  ordinaryBytesMax,
  ordinaryValuesMax,
} from "../../api/object-extent.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { redacted } from "../../api/redacted.ts";
import { maxUnknownFields } from "../../api/schema/decode.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import { type ObjectForm, structOf } from "../../api/scheme/object-form.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import { applyJsonPatchInSteps } from "../../apply/patch/json-patch.ts";
import { applyMergePatch } from "../../apply/patch/merge-patch.ts";
import { type PatchType, parsePatchType } from "../../apply/patch/patch-type.ts";
import { patchedInOrderInSteps, patchedText } from "../../apply/patch/patched-text.ts";
import { applyStrategicMergePatchInSteps } from "../../apply/patch/strategic-merge-patch.ts";
import { cannotUnmarshal } from "../../apply/patch/wrong-document.ts";
import type { Eventual } from "../../process/eventual.ts";
import { runSliced } from "../../process/sliced.ts";
import { nextTurn } from "../../process/turn.ts";
import { copyObject } from "../../registry/copy-object.ts";
import { header } from "../../request/exchange.ts";
import { apply } from "./apply.ts";
import { negotiateFor, type ResourceCall, type VerbHandler } from "./endpoint.ts";
import { duplicateFieldText, reportFields, typedObject, unknownFieldText } from "./object-body.ts";
import { alignNamespace, requireSameName } from "./object-identity.ts";
import { settlePatchedType } from "./patched-type.ts";
import { throughView, viewTracker } from "./through-view.ts";
import { unstructuredObject } from "./unstructured-object.ts";
import { parsePatchOptions, type WriteOptions } from "./write-options.ts";
import { objectReply, writeContext } from "./write-reply.ts";

/**
 * Answers PATCH. Applies the patch to the newest state, again if another writer was faster, and stores the result as an
 * update.
 */
export const patch: VerbHandler = async (call) => {
  const { exchange, request, registry, strategy, parts } = call;
  const info = call.view?.info ?? call.info;
  const representation = negotiateFor(call, "object");
  const type = parsePatchType(header(exchange.request, "content-type") ?? "", {
    strategic: call.info.form.kind === "struct",
    cbor: parts.cbor,
  });
  const options = parsePatchOptions(request.query, type);
  if (type === "apply") return apply(call, options, representation);
  const bytes = await exchange.request.body();
  if (bytes.length > ordinaryBytesMax) await nextTurn();
  // A missing object is reported before mistakes in the body.
  let body: ParsedDocument | undefined;
  const warnings = exchange.warnings.length;
  const context = writeContext(call, options);
  const change = async (old: KubeObject) => {
    exchange.warnings.length = warnings;
    body ??= await runSliced(parsePatch(bytes, type, options));
    return patched(call, old, type, body.value, body.duplicates, options);
  };
  const { transform, options: viewOptions } = throughView(call, change, viewTracker(call, context));
  const result = await registry.update(request.namespace, request.name, transform, context, {
    strategy,
    subresource: request.subresource,
    reapplies: true,
    ...viewOptions,
  });
  return objectReply(call, 200, result, representation);

  async function patched(
    target: ResourceCall,
    old: KubeObject,
    patchType: PatchType,
    document: JsonValue,
    repeated: readonly string[],
    { fieldValidation }: WriteOptions,
  ): Promise<KubeObject> {
    const mayBeLarge =
      hasMoreValues(old as unknown as JsonObject, ordinaryValuesMax) || bytes.length > ordinaryBytesMax;
    if (mayBeLarge) await nextTurn();
    // Patches share parts of their argument with the result.
    const draft = copyObject(old) as unknown as JsonObject;
    if (mayBeLarge) await nextTurn();
    const applied = applyPatch(draft, document, patchType, info.form);
    const { merged, rest } = applied instanceof Promise ? await applied : applied;
    if (!isJsonObject(merged)) throw status.patchNotApplicable();
    // A short patch of an ordinary object makes no large one, except by copying.
    if ((mayBeLarge || patchType === "json") && countObjectValues(merged, objectValuesMax) > objectValuesMax)
      throw status.tooManyValues(objectValuesMax);
    if (mayBeLarge) await nextTurn();
    const refusal = (why: string) => refusedPatch(refusedText(merged, rest, patchType, info), why);
    if (patchType !== "strategic")
      settlePatchedType(merged, { info, name: request.name, known: parts.catalog, refusal });
    const ordered =
      patchType === "json" || patchType === "merge"
        ? runSliced(patchedInOrderInSteps(merged, document, patchType))
        : merged;
    const inOrder = ordered instanceof Promise ? await ordered : ordered;
    if (mayBeLarge) await nextTurn();
    const { object, unknownFields } = orRefused(refusal, () => {
      const expected = { gvk: info, form: info.form };
      const reading = { takesOver: true, settled: draft };
      if (patchType === "strategic") return unstructuredObject(merged, expected, reading);
      return typedObject(inOrder, expected, reading);
    });
    const own = patchType === "json" ? operationProblems(document, repeated) : repeated.map(duplicateFieldText);
    // Upstream sorts the findings of a strategic merge patch, because its result is not a text with an order.
    const unknown = patchType === "strategic" ? unknownFields.toSorted(compareTexts) : unknownFields;
    const problems = [...own, ...unknown.map(unknownFieldText)];
    if (mayBeLarge) await nextTurn();
    reportFields(target, problems, fieldValidation, refusal);
    requireSameName(target, object);
    alignNamespace(target, object);
    if (target.view !== undefined) requireSameUid(target, object, old);
    return object;
  }
};

function* parsePatch(
  bytes: Uint8Array,
  type: PatchType,
  { fieldValidation }: WriteOptions,
): Generator<void, ParsedDocument> {
  try {
    return yield* parseJsonInSteps(bytes, { strict: fieldValidation !== "Ignore", valuesMax: objectValuesMax });
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      throw status.badRequest(type === "strategic" ? error.message : `error decoding patch: ${error.message}`);
    }
    throw error;
  }
}

interface AppliedPatch {
  readonly merged: JsonValue;
  /** The patch as a refusal shows it. */
  readonly rest: JsonValue;
}

function applyPatch(old: JsonObject, document: JsonValue, type: PatchType, form: ObjectForm): Eventual<AppliedPatch> {
  if (type === "json") return runSliced(mergedWith(document, applyJsonPatchInSteps(old, document)));
  if (type === "merge") return { merged: applyMergePatch(old, document), rest: document };
  if (document === null) return { merged: old, rest: document };
  if (!isJsonObject(document)) throw status.badRequest(cannotUnmarshal(document, "map[string]interface {}"));
  return runSliced(applyStrategicMergePatchInSteps(old, document, structOf({ form })));
}

function* mergedWith(rest: JsonValue, steps: Generator<void, JsonValue>): Generator<void, AppliedPatch> {
  return { merged: yield* steps, rest };
}

function refusedText(merged: JsonObject, document: JsonValue, type: PatchType, { sensitive }: ResourceInfo): string {
  const shown = <T extends JsonValue>(value: T) => (sensitive ? redacted(value) : value);
  return type === "merge" || type === "json" ? patchedText(shown(merged), document, type) : goText(shown(document));
}

const operationFields = new Set(["op", "path", "from", "value"]);

/** Returns the mistakes in the operations of a JSON patch, with at most `maxUnknownFields` unknown fields. */
function operationProblems(document: JsonValue, repeated: readonly string[]): string[] {
  const operations = Array.isArray(document) ? document : [];
  const unknown: string[] = [];
  for (const [at, operation] of operations.entries()) {
    if (unknown.length >= maxUnknownFields) break;
    const fields = Object.keys(objectOf(operation)).filter((field) => !operationFields.has(field));
    for (const field of fields.slice(0, maxUnknownFields)) unknown.push(unknownFieldText(`[${at}].${field}`));
  }
  return [...unknown.slice(0, maxUnknownFields), ...repeated.map(duplicateFieldText)].map(
    (problem) => `json patch ${problem}`,
  );
}

/** A patched view has the uid of its object. @throws StatusError 409 if the uid differs */
function requireSameUid({ info, request }: ResourceCall, { metadata }: KubeObject, old: KubeObject): void {
  const [{ uid: given = "" }, { uid = "" }] = [metadata, old.metadata];
  if (given === "" || given === uid) return;
  const resource = `${info.resource}/${request.subresource}`;
  throw status.conflict(
    { group: info.group, resource, name: request.name },
    `Precondition failed: UID in precondition: ${given}, UID in object meta: ${uid}`,
  );
}

function orRefused<T>(refusal: (why: string) => Error, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeTypeError) throw refusal(error.message);
    throw error;
  }
}

/** Returns the refusal of a patch whose result does not match the type. It names neither the kind nor the object. */
function refusedPatch(value: string, why: string): Error {
  return status.unfitPatch([fieldError.invalid("patch", value, why)]);
}
