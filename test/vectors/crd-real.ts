import { fieldErrorText } from "../../src/api/field-error.ts";
import { cloneJson, equalJson, type JsonObject } from "../../src/api/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { StructuralSchema } from "../../src/api/structural/structural-schema.ts";
import type { CustomResourceDefinition } from "../../src/api/types/apiextensions-v1.ts";
import { InstanceValidator } from "../../src/kinds/custom/instance-validation.ts";
import { definitionProblems } from "./crd-definitions.ts";

/** A definition that a project publishes, without its descriptions. */
export interface PublishedDefinition {
  readonly project: string;
  readonly module: string;
  readonly version: string;
  readonly definition: JsonObject;
}

/** An object of such a definition, and the answer of the reference to its creation. */
export interface PublishedInstance {
  readonly definition: string;
  readonly object: JsonObject;
  readonly result?: JsonObject;
  readonly causes?: readonly (readonly [reason: string, field: string, message: string])[];
  readonly badRequest?: string;
}

/** A definition that is ready to check objects. */
export class PublishedKind {
  readonly problems: readonly string[];
  readonly #schema: StructuralSchema;
  readonly #validator: InstanceValidator;

  constructor({ definition }: PublishedDefinition) {
    this.problems = definitionProblems(definition).map(fieldErrorText);
    const { spec } = definition as unknown as CustomResourceDefinition;
    const [version] = spec.versions ?? [];
    this.#schema = new StructuralSchema(version?.schema?.openAPIV3Schema as JsonObject | undefined);
    this.#validator = new InstanceValidator({
      kind: spec.names.kind,
      apiVersion: `${spec.group}/${version?.name}`,
      schema: this.#schema,
      scale: version?.subresources?.scale,
    });
  }

  /** Returns the difference between our answer and the reference's; undefined if there is none. */
  compare(recorded: PublishedInstance): string | undefined {
    const object = cloneJson(recorded.object);
    this.#schema.prune(object);
    this.#schema.dropNulls(object);
    const { error } = this.#schema.coerceEmbedded(object);
    if (error !== undefined || recorded.badRequest !== undefined) {
      const isSame = error !== undefined && recorded.badRequest?.endsWith(fieldErrorText(error)) === true;
      return isSame ? undefined : differenceOf(recorded.badRequest, error && fieldErrorText(error));
    }
    this.#schema.applyDefaults(object);
    const steps = this.#validator.validate({ object });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    const causes = step.value.errors.map(({ reason, field, message }) => [reason, field, message]);
    if (recorded.causes !== undefined || causes.length > 0) {
      const [expected, actual] = [sorted(recorded.causes ?? []), sorted(causes)];
      return equalJson(expected, actual) ? undefined : differenceOf(expected, actual);
    }
    const { metadata } = recorded.object as unknown as KubeObject;
    const expected = { ...recorded.result, metadata: metadata as JsonObject };
    return equalJson(expected, object) ? undefined : differenceOf(expected, object);
  }
}

/** The reference reports errors of different properties in random order. */
function sorted(causes: readonly (readonly string[])[]): string[] {
  return causes.map((cause) => JSON.stringify(cause)).sort();
}

function differenceOf(expected: unknown, actual: unknown): string {
  return `expected ${JSON.stringify(expected)}\n   found ${JSON.stringify(actual)}`;
}
