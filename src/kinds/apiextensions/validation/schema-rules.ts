import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type { OpenApiSchema } from "../../../api/structural/open-api-schema.ts";
import { valuesOf } from "../../../api/structural/open-api-schema.ts";
import { resourceFields } from "../../../api/structural/prune.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import {
  placeBelow,
  RuleChecker,
  type RulePlace,
  type RuleSchema,
  rootPlace,
  ruleFormProblems,
  toFieldError,
} from "../../../cel/index.ts";
import { validateListAndMapTypes, validateListKeys } from "./list-type-rules.ts";
import { type SchemaRatchets, schemaTypes } from "./schema-ratchets.ts";

/** Nodes that are checked before others get their turn. */
const nodesPerStep = 200;

export interface SchemaRuleOptions {
  readonly path: string;
  readonly ratchets: SchemaRatchets;
  /** Compiles the rules of the schema; undefined if errors of the schema prevent that. */
  readonly checker: RuleChecker | undefined;
  /** Skips the cost limit of each rule, because the update does not change the schema. */
  readonly ignoresRuleCosts: boolean;
}

/** Checks the schema of a version node by node. Yields between rules: a definition may have hundreds. */
export function* validateSchemaRules(root: OpenApiSchema, options: SchemaRuleOptions): Generator<void, FieldError[]> {
  const check = new SchemaCheck(options);
  yield* check.node(
    root,
    { ...rootPlace(options.path), isRoot: true, isMetadata: false, forbidsDefaults: undefined },
    true,
  );
  return [...check.schemaErrors, ...check.ruleErrors];
}

interface Place extends RulePlace {
  readonly isRoot: boolean;
  /** In the schema of apiVersion, kind or metadata of a resource. */
  readonly isMetadata: boolean;
  /** Why there may be no defaults here. */
  readonly forbidsDefaults: string | undefined;
}

class SchemaCheck {
  readonly schemaErrors: FieldError[] = [];
  readonly ruleErrors: FieldError[] = [];
  readonly #options: SchemaRuleOptions;
  #nodes = 0;
  #errorCount = 0;

  constructor(options: SchemaRuleOptions) {
    this.#options = options;
  }

  /** @param runsRules false inside `anyOf`, `allOf`, `oneOf` and `not`, whose rules are never compiled */
  *node(schema: OpenApiSchema, place: Place, runsRules: boolean): Generator<void> {
    if (++this.#nodes % nodesPerStep === 0) yield;
    const { path } = place;
    const errorsBefore = this.#errorCount;
    this.#add(validateSupported(schema, place, this.#options.ratchets));
    if (schema.uniqueItems === true) {
      const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
      this.#add([fieldError.forbidden(`${path}.uniqueItems`, detail)]);
    }
    yield* this.#children(schema, place, runsRules);
    this.#add(validateListAndMapTypes(schema, path, this.#options.ratchets));
    if (this.#options.ratchets.requiresListKeys) this.#add(validateListKeys(schema, path));
    const rules = schema["x-kubernetes-validations"] ?? [];
    for (const [at, rule] of rules.entries()) {
      const rulePath = `${path}.x-kubernetes-validations[${at}]`;
      this.#add(ruleFormProblems(rule, schema as RuleSchema, rulePath).map(toFieldError));
    }
    if (rules.length === 0 || this.#errorCount > errorsBefore || !runsRules) return;
    const { checker, ignoresRuleCosts } = this.#options;
    if (checker === undefined) return;
    const isResource = place.isRoot || schema["x-kubernetes-embedded-resource"] === true;
    // Upstream numbers the types of self.
    const typeName = `selfType${this.#nodes}`;
    const problems = yield* checker.checkNode(schema as RuleSchema, place, { isResource, ignoresRuleCosts, typeName });
    for (const problem of problems) this.ruleErrors.push(toFieldError(problem));
  }

  #add(errors: readonly FieldError[]): void {
    this.#errorCount += errors.length;
    if (this.schemaErrors.length < fieldErrorsMax) this.schemaErrors.push(...errors);
  }

  *#children(schema: OpenApiSchema, place: Place, runsRules: boolean): Generator<void> {
    const values = valuesOf(schema);
    if (schema.additionalProperties !== undefined && Object.keys(schema.properties ?? {}).length > 0) {
      if (schema.additionalProperties !== true) {
        const detail = "additionalProperties and properties are mutual exclusive";
        this.#add([fieldError.forbidden(`${place.path}.additionalProperties`, detail)]);
      }
    }
    if (values !== undefined) {
      const forbidsDefaults = place.isMetadata
        ? "inside additionalProperties applying to object metadata"
        : place.forbidsDefaults;
      const below = placeBelow(place, schema as RuleSchema, "additionalProperties");
      yield* this.node(values, { ...place, ...below, isRoot: false, forbidsDefaults }, runsRules);
    }
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      yield* this.node(property, propertyPlace(schema, name, place), runsRules);
    }
    yield* this.#parts(schema, place);
    if (schema.items !== undefined) {
      const below = { ...place, ...placeBelow(place, schema as RuleSchema, "items"), isRoot: false };
      yield* this.node(schema.items, below, runsRules);
    }
    for (const [at, item] of (schema.itemSchemas ?? []).entries()) {
      const below = { ...place, ...placeBelow(place, schema as RuleSchema, "items"), isRoot: false };
      yield* this.node(item, { ...below, path: `${below.path}[${at}]` }, runsRules);
    }
    for (const [name, dependency] of Object.entries(schema.dependencies ?? {})) {
      yield* this.node(dependency, { ...place, path: `${place.path}.dependencies[${name}]`, isRoot: false }, false);
    }
  }

  *#parts(schema: OpenApiSchema, place: Place): Generator<void> {
    const at = (suffix: string): Place => ({ ...place, path: `${place.path}.${suffix}`, isRoot: false });
    if (schema.not !== undefined) yield* this.node(schema.not, at("not"), false);
    for (const name of ["allOf", "oneOf", "anyOf"] as const) {
      for (const [index, part] of (schema[name] ?? []).entries()) {
        yield* this.node(part, at(`${name}[${index}]`), false);
      }
    }
    for (const [name, definition] of Object.entries(schema.definitions ?? {})) {
      yield* this.node(definition, at(`definitions[${name}]`), false);
    }
  }
}

function propertyPlace(schema: OpenApiSchema, name: string, place: Place): Place {
  const below = { ...place, ...placeBelow(place, schema as RuleSchema, "properties", name), isRoot: false };
  const isResource = place.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  if (!isResource || !resourceFields.has(name)) return below;
  return { ...below, isMetadata: true, forbidsDefaults: place.isRoot ? `in top-level ${name}` : place.forbidsDefaults };
}

/** Reports what no schema of a custom kind may have. */
function validateSupported(
  schema: OpenApiSchema,
  { path, forbidsDefaults, isMetadata }: Place,
  { requiresKnownTypes }: SchemaRatchets,
): FieldError[] {
  const errors: FieldError[] = [];
  const { type } = schema;
  if (requiresKnownTypes && type !== undefined && !schemaTypes.includes(type)) {
    errors.push(fieldError.notSupported(`${path}.type`, type, schemaTypes));
  }
  const forbid = (isGiven: boolean, name: string, detail: string) => {
    if (isGiven) errors.push(fieldError.forbidden(`${path}.${name}`, detail));
  };
  forbid(
    schema.default !== undefined && forbidsDefaults !== undefined,
    "default",
    `must not be set ${forbidsDefaults}`,
  );
  forbid(schema.id !== undefined, "id", "id is not supported");
  forbid(schema.additionalItems !== undefined, "additionalItems", "additionalItems is not supported");
  const names = { patternProperties: schema.patternProperties, definitions: schema.definitions };
  for (const [name, schemas] of Object.entries(names)) {
    forbid(Object.keys(schemas ?? {}).length > 0, name, `${name} is not supported`);
  }
  const hasDependencies = schema.dependencies !== undefined || isGivenEmpty(schema, "dependencies");
  forbid(hasDependencies, "dependencies", "dependencies is not supported");
  forbid(schema.$ref !== undefined, "$ref", "$ref is not supported");
  forbid(type === "null", "type", "type cannot be set to null, use nullable as an alternative");
  const hasItemSchemas = (schema.itemSchemas ?? []).length > 0;
  forbid(hasItemSchemas, "items", "items must be a schema object and not an array");
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  forbid(isMetadata && isEmbedded, "x-kubernetes-embedded-resource", "must not be used inside of resource meta");
  return errors;
}
