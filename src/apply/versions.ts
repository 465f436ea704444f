import type { JsonObject } from "../api/json.ts";
import type { Eventual } from "../process/eventual.ts";
import { TurnSlice } from "../process/turn-slice.ts";
import type { FieldSet } from "./field-set.ts";
import { TrackingError } from "./tracking-error.ts";
import { typeError } from "./type-errors.ts";
import type { ValueType } from "./value-type.ts";

/** Leaves out the fields that a write through an endpoint cannot change. */
export interface FieldFilter {
  /** Gives the same set for the same fields. */
  (fields: FieldSet): FieldSet;
  /** The fields of a document that are left out with all that is below them. */
  readonly wholeFields: readonly string[];
}

/** One served version of a kind. */
export interface TrackedVersion {
  readonly apiVersion: string;
  readonly type: ValueType;
  /** A document that sets nothing, as the version's type writes it. */
  readonly empty: JsonObject;
  /** Documents of this version were decoded by a type, so they need no check against `type`. */
  readonly isDecoded: boolean;
  /** Depends on the endpoint; absent when every field can be written. */
  readonly resetFields?: FieldFilter;
}

/** A document that is needed in another version. */
export interface ConversionRequest {
  readonly object: JsonObject;
  readonly from: TrackedVersion;
  readonly to: TrackedVersion;
}

/** A document in the requested version, or the reason why it cannot be converted. */
export type ConversionReply = { readonly object: JsonObject } | { readonly error: string };

/** A place where other requests may have a turn. Its reply means nothing. */
export const pause = "pause";
const resumed: ConversionReply = { error: "" };

/**
 * A computation that pauses when it needs a document in another version, and between long parts. The caller decides how
 * to get the document, at once or by asking a webhook.
 */
export type Steps<T> = Generator<ConversionRequest | typeof pause, T, ConversionReply>;

/** Finds a version by its text; undefined for one that is not served. */
export type VersionFinder = (apiVersion: string) => TrackedVersion | undefined;

/** Runs the steps with a conversion that may answer later. The result comes later then, or if the steps take long. */
export function runStepsEventually<T>(
  steps: Steps<T>,
  convert: (request: ConversionRequest) => Eventual<ConversionReply>,
): Eventual<T> {
  const slice = new TurnSlice();
  return finishSteps(steps, steps.next(), (request) => (request === pause ? turnOf(slice) : convert(request)));
}

function turnOf(slice: TurnSlice): Eventual<ConversionReply> {
  return slice.pass()?.then(() => resumed) ?? resumed;
}

function finishSteps<T>(
  steps: Steps<T>,
  first: IteratorResult<ConversionRequest | typeof pause, T>,
  replyTo: (request: ConversionRequest | typeof pause) => Eventual<ConversionReply>,
): Eventual<T> {
  let step = first;
  while (step.done !== true) {
    const reply = replyTo(step.value);
    if (reply instanceof Promise) return reply.then((answer) => finishSteps(steps, steps.next(answer), replyTo));
    step = steps.next(reply);
  }
  return step.value;
}

/** Runs the steps with a conversion that answers at once. */
export function runSteps<T>(steps: Steps<T>, convert: (request: ConversionRequest) => ConversionReply): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next(step.value === pause ? resumed : convert(step.value));
  return step.value;
}

/** Takes the steps of a computation that needs no documents. */
export function* inPauses<T>(steps: Generator<void, T>): Steps<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield pause;
  }
}

/**
 * A document in another version, checked against that version's type.
 * @param context what the conversion is for, in front of an error
 * @throws TrackingError
 */
export function* convertTo(
  object: JsonObject,
  from: TrackedVersion,
  to: TrackedVersion,
  context = "",
): Steps<JsonObject> {
  if (from.apiVersion === to.apiVersion) return object;
  const known = conversions.get(object)?.get(to.apiVersion);
  if (known !== undefined) return known;
  const reply = yield { object, from, to };
  if ("error" in reply) throw new TrackingError(context + reply.error);
  const problem = to.isDecoded ? undefined : typeError(reply.object, to.type, { allowsDuplicates: false });
  if (problem !== undefined) throw new TrackingError(context + problem);
  const others = conversions.get(object) ?? new Map<string, JsonObject>();
  conversions.set(object, others.set(to.apiVersion, reply.object));
  return reply.object;
}

/** Documents in other versions. A write needs those of the live object several times, and never changes them. */
const conversions = new WeakMap<JsonObject, Map<string, JsonObject>>();
