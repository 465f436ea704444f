import { type FieldError, fieldErrorText } from "../../../api/field-error.ts";
import {
  cloneJson,
  emptyJsonObject,
  equalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../api/json.ts";
import { coerceMetadata, validateEmbedded } from "../../../api/structural/embedded-metadata.ts";
import { invalidValue } from "../../../api/structural/findings.ts";
import { type OpenApiSchema, someSchema, valuesOf } from "../../../api/structural/open-api-schema.ts";
import { prune, resourceFields } from "../../../api/structural/prune.ts";
import { valueValidator } from "../../../api/structural/value-validator.ts";
import {
  makeRuleValidator,
  objectCostMax,
  type RuleSchema,
  runRules,
  storedEnvironment,
  toFieldError,
} from "../../../cel/index.ts";

/** Nodes that are checked before others get their turn. */
const nodesPerStep = 20;
const environments = { environmentOf: () => storedEnvironment() };

/** Steps from a resource to a value inside of it; an item has no name. */
type Steps = readonly (string | undefined)[];

interface Place {
  readonly path: string;
  /** The resource around the node, or the node itself. */
  readonly resource: OpenApiSchema;
  /** From the resource to the node. */
  readonly steps: Steps;
  readonly isMetadata: boolean;
}

/** Checks that the defaults of a structural schema are values that it allows. Yields between rules. */
export function* validateDefaults(
  root: OpenApiSchema,
  path: string,
  requiresPruned: boolean,
): Generator<void, FieldError[]> {
  const check = new DefaultsCheck(root, requiresPruned);
  yield* check.node(root, { path, resource: root, steps: [], isMetadata: false });
  return check.errors;
}

class DefaultsCheck {
  readonly errors: FieldError[] = [];
  readonly #root: OpenApiSchema;
  readonly #requiresPruned: boolean;
  /** Left for the rules that check all defaults of a schema. */
  #budget = objectCostMax;
  #nodes = 0;

  constructor(root: OpenApiSchema, requiresPruned: boolean) {
    this.#root = root;
    this.#requiresPruned = requiresPruned;
  }

  #isResource(schema: OpenApiSchema): boolean {
    return schema === this.#root || schema["x-kubernetes-embedded-resource"] === true;
  }

  *node(schema: OpenApiSchema, around: Place): Generator<void> {
    if (++this.#nodes % nodesPerStep === 0) yield;
    const isResource = this.#isResource(schema);
    const place = isResource ? { ...around, resource: schema, steps: [], isMetadata: false } : around;
    if (schema.default !== undefined) yield* this.#default(schema, schema.default, place);
    if (this.#budget < 0) return;
    if (schema.items !== undefined) {
      yield* this.node(schema.items, { ...place, path: `${place.path}.items`, steps: [...place.steps, undefined] });
    }
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (this.#budget < 0) return;
      const isMetadata = place.isMetadata || (isResource && resourceFields.has(name));
      const path = `${place.path}.properties[${name}]`;
      yield* this.node(property, { ...place, path, steps: [...place.steps, name], isMetadata });
    }
  }

  *#default(schema: OpenApiSchema, given: JsonValue, place: Place): Generator<void> {
    const path = `${place.path}.default`;
    const value = cloneJson(given);
    const metadataErrors = place.isMetadata
      ? yield* metadataProblems(value, path, place)
      : yield* this.#embeddedProblems(schema, value, path);
    this.errors.push(...metadataErrors);
    if (metadataErrors.some(({ message }) => !message.endsWith(unknownFieldsText))) return;
    const errors = yield* valueValidator(schema, { asDeclared: true }).validate(value, { base: path });
    this.errors.push(...errors);
    if (errors.length === 0) yield* this.#rules(schema, value, path);
  }

  /** Checks the default of a node outside of metadata, which may bring embedded resources. */
  *#embeddedProblems(schema: OpenApiSchema, value: JsonValue, path: string): Generator<void, FieldError[]> {
    const isResource = this.#isResource(schema);
    const errors: FieldError[] = [];
    const pruned = cloneJson(value);
    prune(pruned, schema, isResource);
    if (this.#requiresPruned && !equalJson(pruned, value)) {
      errors.push(invalidValue(path, value, unknownFieldsText));
    }
    const { error } = coerceMetadata(value, schema, { isResource, base: path });
    return error === undefined
      ? [...errors, ...(yield* validateEmbedded(value, schema, { isResource, base: path }))]
      : [...errors, error];
  }

  /** Runs the rules as if the value had been there before, and then as if it had not. */
  *#rules(schema: OpenApiSchema, value: JsonValue, path: string): Generator<void> {
    const validator = makeRuleValidator(schema as RuleSchema, environments, this.#isResource(schema));
    if (validator === undefined) return;
    const budget = this.#budget;
    const kept = yield* runRules(validator, value, value, { budget, path });
    const fresh = kept.errors.length > 0 ? kept : yield* runRules(validator, value, undefined, { budget, path });
    this.errors.push(...fresh.errors.map(toFieldError));
    this.#budget = Math.min(kept.budget, fresh.budget);
  }
}

const unknownFieldsText = "must not have unknown fields";

/** Checks the default of a field of metadata, in an object around it. */
function* metadataProblems(value: JsonValue, path: string, { resource, steps }: Place): Generator<void, FieldError[]> {
  const object = surround(cloneJson(value), steps);
  object["kind"] ??= "Validation";
  object["apiVersion"] ??= "validation/v1";
  const { error } = coerceMetadata(object, resource, { isResource: true });
  const errors = error === undefined ? yield* validateEmbedded(object, resource, { isResource: true }) : [error];
  if (errors.length === 0) return [];
  const texts = [...new Set(errors.map(fieldErrorText))];
  const shown = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return [invalidValue(path, value, `must result in valid metadata: ${shown}`)];
}

/** Builds an object that has a value at the end of the steps. */
function surround(value: JsonValue, steps: Steps): JsonObject {
  let built = value;
  for (const step of steps.toReversed()) {
    if (step === undefined) built = [built];
    else {
      const object = emptyJsonObject();
      object[step] = built;
      built = object;
    }
  }
  return isJsonObject(built) ? built : emptyJsonObject();
}

function valueAt(object: JsonObject, steps: Steps): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const step of steps) {
    if (step === undefined) value = Array.isArray(value) ? value[0] : undefined;
    else value = isJsonObject(value) ? value[step] : undefined;
  }
  return value;
}

/** Reports whether a default of a schema brings fields that the schema does not declare. */
export function hasUnprunedDefaults(root: OpenApiSchema): boolean {
  return someSchema(root, (node) => node.default !== undefined) && hasUnpruned(root, root, []);
}

function hasUnpruned(root: OpenApiSchema, schema: OpenApiSchema, steps: Steps): boolean {
  if (schema.default !== undefined) {
    const object = surround(cloneJson(schema.default), steps);
    coerceMetadata(object, root, { isResource: true, dropsInvalid: true });
    prune(object, root, true);
    if (!equalJson(valueAt(object, steps), schema.default)) return true;
  }
  const values = valuesOf(schema);
  if (values !== undefined && hasUnpruned(root, values, [...steps, "*"])) return true;
  if (schema.items !== undefined && hasUnpruned(root, schema.items, [...steps, undefined])) return true;
  return Object.entries(schema.properties ?? {}).some(([name, part]) => hasUnpruned(root, part, [...steps, name]));
}
