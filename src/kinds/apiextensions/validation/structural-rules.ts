import { type FieldError, fieldError, fieldErrorText } from "../../../api/field-error.ts";
import { equalJson, type JsonValue } from "../../../api/json.ts";
import { compilePattern, PatternError } from "../../../api/re2-pattern.ts";
import { type OpenApiSchema, someSchema, valuesOf } from "../../../api/structural/open-api-schema.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";

/** Nodes that are checked before others get their turn. */
const nodesPerStep = 200;

type Level = "root" | "item" | "field";

/** Fields that keep a schema from being read as a structural one at all. */
const unsupported = [
  "id",
  "$schema",
  "$ref",
  "patternProperties",
  "dependencies",
  "additionalItems",
  "definitions",
] as const;
const emptyTypeTexts: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};
const intOrString: JsonValue = [{ type: "integer" }, { type: "string" }];

/** Returns why a schema cannot be read as a structural one; undefined if it can. */
export function structuralObstacle(root: OpenApiSchema): string | undefined {
  let obstacle: string | undefined;
  someSchema(root, (node) => {
    const field = unsupported.find((name) => isSet(node[name]));
    if (field !== undefined) obstacle = `OpenAPIV3Schema '${field === "$schema" ? "schema" : field}' is not supported`;
    else if (node["x-kubernetes-preserve-unknown-fields"] === false) {
      obstacle = "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
    } else if ((node.itemSchemas ?? []).length > 0) {
      obstacle = "OpenAPIV3Schema 'items' must be a schema, but is an array";
    }
    return obstacle !== undefined;
  });
  return obstacle;
}

function isSet(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== "";
}

/**
 * Checks that a schema is structural: everything that it says about values, it says of values whose type is known. Yields
 * now and then, and between patterns, each of which may take milliseconds to compile.
 */
export function* validateStructural(root: OpenApiSchema, path: string): Generator<void, FieldError[]> {
  const errors: FieldError[] = [];
  const check = new StructuralCheck(errors);
  yield* check.node(root, "root", path);
  yield;
  checkParts(root, root, path, path, errors);
  for (const [field, pattern] of check.patterns) {
    yield;
    const problem = patternProblem(pattern);
    if (problem === undefined) continue;
    errors.push(fieldError.invalid(field, pattern, `must be a valid regular expression, but isn't: ${problem}`));
  }
  if (errors.length === 0) return errors;
  const texts = new Map(errors.map((error) => [error, fieldErrorText(error)]));
  return errors.sort((a, b) => ((texts.get(a) ?? "") < (texts.get(b) ?? "") ? -1 : 1)).slice(0, fieldErrorsMax);
}

class StructuralCheck {
  /** Path of each pattern, and the pattern. */
  readonly patterns: (readonly [field: string, pattern: string])[] = [];
  readonly #errors: FieldError[];
  #nodes = 0;

  constructor(errors: FieldError[]) {
    this.#errors = errors;
  }

  *node(schema: OpenApiSchema, level: Level, path: string): Generator<void> {
    if (++this.#nodes % nodesPerStep === 0) yield;
    const { items, properties = {}, additionalProperties } = schema;
    if (schema.type === "array" && items === undefined) this.#require(`${path}.items`, "must be specified");
    if (items !== undefined) yield* this.node(items, "item", `${path}.items`);
    for (const [name, property] of Object.entries(properties)) {
      yield* this.node(property, "field", `${path}.properties[${name}]`);
    }
    if (additionalProperties !== undefined && level === "root") {
      this.#forbid(`${path}.additionalProperties`, "must not be used at the root");
    }
    const values = valuesOf(schema);
    if (values !== undefined) yield* this.node(values, "field", `${path}.additionalProperties`);
    this.#extensions(schema, path);
    this.#valueRules(schema, path, { anyOf: isIntOrString(schema), firstOfAllOf: startsWithIntOrString(schema) });
    this.#type(schema, level, path);
    this.#resourceFields(schema, level, path);
  }

  #require(field: string, detail: string): void {
    this.#errors.push(fieldError.required(field, detail));
  }

  #forbid(field: string, detail: string): void {
    this.#errors.push(fieldError.forbidden(field, detail));
  }

  #refuse(field: string, value: JsonValue, detail: string): void {
    this.#errors.push(fieldError.invalid(field, value, detail));
  }

  #extensions(schema: OpenApiSchema, path: string): void {
    if (schema["x-kubernetes-int-or-string"] !== true) return;
    for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
      if (schema[name] !== true) continue;
      this.#refuse(`${path}.${name}`, true, "must be false if x-kubernetes-int-or-string is true");
    }
  }

  #type(schema: OpenApiSchema, level: Level, path: string): void {
    const type = schema.type ?? "";
    const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
    const field = `${path}.type`;
    if (isEmbedded && type !== "object") {
      const detail = "must be object if x-kubernetes-embedded-resource is true";
      if (type === "") this.#require(field, detail);
      else this.#refuse(field, type, detail);
    } else if (type === "" && schema["x-kubernetes-int-or-string"] !== true && !keepsUnknown) {
      this.#require(field, emptyTypeTexts[level]);
    }
    if (isEmbedded && schema.additionalProperties !== undefined) {
      this.#forbid(`${path}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set");
    }
    if (level === "root" && type !== "" && type !== "object") this.#refuse(field, type, "must be object at the root");
    if (isEmbedded && !keepsUnknown && Object.keys(schema.properties ?? {}).length === 0) {
      const detail =
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
      this.#require(`${path}.properties`, detail);
    }
  }

  /** Checks what a resource says about the fields that every resource has. */
  #resourceFields(schema: OpenApiSchema, level: Level, path: string): void {
    const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
    for (const name of ["kind", "apiVersion"]) {
      const property = schema.properties?.[name];
      if (!isResource || property === undefined || property.type === "string") continue;
      this.#refuse(`${path}.properties[${name}].type`, property.type ?? "", "must be string");
    }
    const metadata = schema.properties?.["metadata"];
    if (metadata === undefined) return;
    const field = `${path}.properties[metadata]`;
    if (isResource && metadata.type !== "object") {
      this.#refuse(`${field}.type`, metadata.type ?? "", "must be object");
    }
    if (level !== "root" || saysOnlyNames(metadata)) return;
    const names = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    this.#forbid(field, names);
  }

  #valueRules(schema: OpenApiSchema, path: string, spares: { anyOf?: boolean; firstOfAllOf?: boolean } = {}): void {
    const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
    if (spares.anyOf !== true) anyOf.forEach((part, at) => this.#part(part, `${path}.anyOf[${at}]`));
    allOf.forEach((part, at) =>
      this.#part(part, `${path}.allOf[${at}]`, { anyOf: spares.firstOfAllOf === true && at === 0, allowsRules: false }),
    );
    oneOf.forEach((part, at) => this.#part(part, `${path}.oneOf[${at}]`));
    if (not !== undefined) this.#part(not, `${path}.not`);
    if (pattern !== undefined) this.patterns.push([`${path}.pattern`, pattern]);
  }

  /** Checks a part of `anyOf`, `allOf`, `oneOf` or `not`, where types are not allowed. */
  #part(part: OpenApiSchema, path: string, { anyOf = false }: { anyOf?: boolean; allowsRules?: boolean } = {}): void {
    this.#valueRules(part, path, { anyOf });
    const { items, properties = {}, type, title, description, nullable } = part;
    if (items !== undefined) this.#part(items, `${path}.items`);
    for (const [name, property] of Object.entries(properties)) this.#part(property, `${path}.properties[${name}]`);
    const forbid = (name: string, detail: string, isGiven: boolean) => {
      if (isGiven) this.#forbid(`${path}.${name}`, `${detail} to be structural`);
    };
    const { additionalProperties, default: defaultValue } = part;
    forbid("type", "must be empty", type !== undefined);
    forbid(
      "additionalProperties",
      "must be undefined",
      additionalProperties !== undefined && additionalProperties !== false,
    );
    forbid("default", "must be undefined", defaultValue !== undefined);
    forbid("title", "must be empty", title !== undefined);
    forbid("description", "must be empty", description !== undefined);
    forbid("nullable", "must be false", nullable === true);
    for (const name of ["preserve-unknown-fields", "embedded-resource", "int-or-string"] as const) {
      forbid(`x-kubernetes-${name}`, "must be false", part[`x-kubernetes-${name}`] === true);
    }
    forbid("x-kubernetes-list-map-keys", "must be empty", part["x-kubernetes-list-map-keys"] !== undefined);
    forbid("x-kubernetes-list-type", "must be undefined", part["x-kubernetes-list-type"] !== undefined);
    forbid("x-kubernetes-map-type", "must be undefined", part["x-kubernetes-map-type"] !== undefined);
    forbid("x-kubernetes-validations", "must be empty", part["x-kubernetes-validations"] !== undefined);
    if (properties["metadata"] !== undefined) {
      this.#forbid(`${path}.properties[metadata]`, "must not be specified in a nested context");
    }
  }
}

/** Reports whether the schema of metadata restricts the names, or nothing. */
function saysOnlyNames({ properties = {}, ...rest }: OpenApiSchema): boolean {
  const known = new Set(["type", "default"]);
  const saysMore = Object.keys(rest).some((name) => !known.has(name));
  return !saysMore && Object.keys(properties).every((name) => name === "name" || name === "generateName");
}

function isIntOrString({ anyOf }: OpenApiSchema): boolean {
  return equalJson(anyOf as JsonValue | undefined, intOrString);
}

function startsWithIntOrString({ allOf = [] }: OpenApiSchema): boolean {
  return allOf[0] !== undefined && isIntOrString(allOf[0]);
}

function patternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

/** Checks that the fields named in `anyOf`, `allOf`, `oneOf` and `not` of the root are declared outside of them. */
function checkParts(
  rules: OpenApiSchema,
  schema: OpenApiSchema,
  path: string,
  rulesPath: string,
  errors: FieldError[],
): void {
  const { not, allOf = [], anyOf = [], oneOf = [] } = rules;
  if (not !== undefined) checkPart(not, schema, path, `${rulesPath}.not`, errors);
  for (const [name, parts] of Object.entries({ allOf, anyOf, oneOf })) {
    parts.forEach((part, at) => checkPart(part, schema, path, `${rulesPath}.${name}[${at}]`, errors));
  }
}

function checkPart(
  part: OpenApiSchema,
  schema: OpenApiSchema | undefined,
  path: string,
  partPath: string,
  errors: FieldError[],
): void {
  if (schema === undefined) {
    errors.push(fieldError.required(path, `because it is defined in ${partPath}`));
    return;
  }
  checkParts(part, schema, path, partPath, errors);
  if (part.items !== undefined) checkPart(part.items, schema.items, `${path}.items`, `${partPath}.items`, errors);
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    const at = `.properties[${name}]`;
    checkPart(property, schema.properties?.[name], path + at, partPath + at, errors);
  }
}
