import { type FieldError, fieldErrorText } from "../../src/api/field-error.ts";
import { cloneJson, equalJson, type JsonObject } from "../../src/api/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { StructuralSchema } from "../../src/api/structural/structural-schema.ts";
import { dnsSubdomainProblems } from "../../src/api/validation/names.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "../../src/api/validation/object-meta.ts";
import { InstanceValidator } from "../../src/kinds/custom/instance-validation.ts";
import type { Difference } from "./difference.ts";

/** An error of the reference. The text is empty if it would quote too much. */
export interface WrittenError {
  readonly type: string;
  readonly field: string;
  readonly detail: string;
  readonly text: string;
}

/** An object as a client sent it, and the answer of the reference. */
export interface ObjectCase {
  readonly name: string;
  readonly schema: JsonObject;
  readonly object: JsonObject;
  readonly oldObject?: JsonObject;
  readonly unknownFields?: readonly string[];
  readonly result?: JsonObject;
  readonly decodeError?: string;
  readonly errors: readonly WrittenError[];
  readonly orderVaries?: boolean;
  readonly errorCount?: number;
}

const nameRules = { namespaced: true, validateName: dnsSubdomainProblems };

export function compareObject(recorded: ObjectCase): Difference[] {
  const { name } = recorded;
  const differences: Difference[] = [];
  const schema = new StructuralSchema(recorded.schema);
  const object = cloneJson(recorded.object);
  const prunedFields = schema.prune(object);
  schema.dropNulls(object);
  const { error, unknownFields: unknownMetadata } = schema.coerceEmbedded(object);
  const unknownFields = [...prunedFields, ...unknownMetadata];
  if (error !== undefined || recorded.decodeError !== undefined) {
    const actual = error === undefined ? undefined : fieldErrorText(error);
    const expected = recorded.decodeError;
    return actual === expected ? [] : [{ name, aspect: "decodeError", expected, actual }];
  }
  schema.applyDefaults(object);
  if (!equalJson(unknownFields, [...(recorded.unknownFields ?? [])])) {
    const expected = recorded.unknownFields ?? [];
    differences.push({ name, aspect: "unknownFields", expected, actual: unknownFields });
  }
  if (!equalJson(object, recorded.result)) {
    differences.push({ name, aspect: "result", expected: recorded.result, actual: object });
  }
  const actual = problemsOf(schema, object, recorded.oldObject);
  return [...differences, ...compareErrors(recorded, actual)];
}

function problemsOf(schema: StructuralSchema, object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const validator = new InstanceValidator({ kind: "Widget", apiVersion: "test.example/v1", schema });
  if (validator.typeErrors(object).length > 0) return validator.typeErrors(object);
  const { metadata } = object as unknown as KubeObject;
  const metadataErrors = [
    ...(old === undefined
      ? validateObjectMeta(metadata, nameRules)
      : validateObjectMetaUpdate(metadata, (old as unknown as KubeObject).metadata, { ...nameRules, repeats: "none" })),
  ];
  const steps = validator.validate({ object, old, metadataErrors });
  let step = steps.next();
  while (!step.done) step = steps.next();
  return [...metadataErrors, ...step.value.errors];
}

/** Compares errors one by one. If the reference reports them in random order, ours are sorted too. */
export function compareErrors(
  recorded: Pick<ObjectCase, "name" | "errors" | "orderVaries" | "errorCount">,
  errors: readonly FieldError[],
): Difference[] {
  const { name, errorCount } = recorded;
  const shown = errors.map((error) => `${error.reason} ${fieldErrorText(error)}`);
  // An omitted text is taken from the detail, with which the message ends.
  const matches = (expected: WrittenError, actual: FieldError | undefined) =>
    actual !== undefined &&
    actual.reason === expected.type &&
    actual.field === expected.field &&
    (expected.text === "" ? actual.message.endsWith(expected.detail) : fieldErrorText(actual) === expected.text);
  const expected = recorded.errors.map(
    ({ type, field, text, detail }) => `${type} ${text === "" ? `${field}: … ${detail}` : text}`,
  );
  const isEqual =
    errorCount === undefined && recorded.orderVaries !== true
      ? errors.length === recorded.errors.length && recorded.errors.every((error, at) => matches(error, errors[at]))
      : errors.length === (errorCount ?? recorded.errors.length) &&
        recorded.errors.every((error) => errors.some((actual) => matches(error, actual)));
  return isEqual ? [] : [{ name, aspect: "errors", expected, actual: shown }];
}
