import type { Json } from "../values/json-value.ts";

/** A rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** Returns a rule as upstream shows it: under the names of its code, with all fields. */
export function shownRule({
  rule,
  message = "",
  messageExpression = "",
  reason,
  fieldPath: path = "",
  ...rest
}: ValidationRule): Readonly<Record<string, string | boolean | null>> {
  return {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: path,
    OptionalOldSelf: rest.optionalOldSelf ?? null,
  };
}

/** The part of a structural OpenAPI schema that types, values and rules need. */
export interface RuleSchema {
  readonly type?: string;
  readonly format?: string;
  readonly items?: RuleSchema;
  readonly properties?: Readonly<Record<string, RuleSchema>>;
  readonly additionalProperties?: RuleSchema | boolean;
  readonly required?: readonly string[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly nullable?: boolean;
  readonly allOf?: readonly RuleSchema[];
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** Returns the schema of the values of a map. */
export function valuesSchema({ additionalProperties }: RuleSchema): RuleSchema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

const text: RuleSchema = { type: "string" };
const resourceMetadata: RuleSchema = { type: "object", properties: { name: text, generateName: text } };

/** Adds what every resource has, whether or not its schema says so: of metadata only the names. */
export function asResource(schema: RuleSchema): RuleSchema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const names = metadata?.properties;
  const isComplete =
    kind?.type === "string" &&
    apiVersion?.type === "string" &&
    metadata?.type === "object" &&
    names?.["name"]?.type === "string" &&
    names["generateName"]?.type === "string";
  if (isComplete) return schema;
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata: resourceMetadata } };
}

/** Reports whether there are rules anywhere in a schema. */
export function hasRules(schema: RuleSchema | undefined): boolean {
  if (schema === undefined) return false;
  if ((schema["x-kubernetes-validations"] ?? []).length > 0) return true;
  if (hasRules(schema.items) || hasRules(valuesSchema(schema))) return true;
  return Object.values(schema.properties ?? {}).some(hasRules) || (schema.allOf ?? []).some(hasRules);
}
