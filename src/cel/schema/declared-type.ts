import type { Range } from "../cost/range.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  structOf,
  timestampType,
} from "../types/cel-type.ts";
import type { TypeProvider } from "../types/type-provider.ts";
import { escapeFieldName, reservedFieldName } from "./field-name.ts";
import { asResource, type RuleSchema, valuesSchema } from "./rule-schema.ts";

/** The largest request; nothing in an object is larger. */
export const requestBytesMax = 3 * 1024 * 1024;
const textLengthMax = requestBytesMax - 2;
const bytesPerCharacterMax = 4;

/** Smallest sizes in JSON, from which it follows how many elements fit a request. */
const minSizes = { string: 2, bool: 4, number: 1, duration: 3, date: 12, dateTime: 21, intOrString: 1, container: 2 };
const timeTextMax = { duration: 32, date: 12, "date-time": 32 } as const;

/** The type that expressions see a schema as, with bounds of its size. */
export interface DeclaredType {
  readonly cel: CelType;
  /** Bytes of the smallest value, as JSON. */
  readonly minSize: number;
  /** Elements or characters of the largest value; zero for scalars and objects. */
  readonly maxElements: number;
  /** Elements of a list, values of a map. */
  readonly element?: DeclaredType;
  readonly isMap?: boolean;
  /** Fields of an object, by escaped name. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/** Returns the type of a schema, with names of object types below `name`; undefined if expressions cannot see it. */
export function declareType(schema: RuleSchema, isResource: boolean, name: string): DeclaredType | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) {
    const maxElements = schema.maxLength === undefined ? textLengthMax : boundedLength(schema.maxLength);
    return { cel: dynType, minSize: minSizes.intOrString, maxElements };
  }
  switch (schema.type) {
    case "array":
      return declareList(schema, name);
    case "object":
      return valuesSchema(schema) !== undefined
        ? declareMap(schema, name)
        : declareObject(isResource ? asResource(schema) : schema, name);
    case "string":
      return declareText(schema);
    case "boolean":
      return { cel: boolType, minSize: minSizes.bool, maxElements: 0 };
    case "number":
      return { cel: doubleType, minSize: minSizes.number, maxElements: 0 };
    case "integer":
      return { cel: intType, minSize: minSizes.number, maxElements: 0 };
    default:
      return undefined;
  }
}

function isEmbedded(schema: RuleSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

function declareList({ items, maxItems }: RuleSchema, name: string): DeclaredType | undefined {
  const element = items === undefined ? undefined : declareType(items, isEmbedded(items), `${name}.@idx`);
  if (element === undefined) return undefined;
  const fitting = Math.floor((requestBytesMax - 2) / (element.minSize + 1));
  const maxElements = maxItems === undefined ? fitting : Math.max(0, maxItems);
  return { cel: listOf(element.cel), minSize: minSizes.container, maxElements, element };
}

function declareMap(schema: RuleSchema, name: string): DeclaredType | undefined {
  const values = valuesSchema(schema);
  const element = values === undefined ? undefined : declareType(values, isEmbedded(values), `${name}.@elem`);
  if (element === undefined) return undefined;
  const fitting = Math.floor((requestBytesMax - 2) / (element.minSize + 6));
  const maxElements = schema.maxProperties === undefined ? fitting : Math.max(0, schema.maxProperties);
  return { cel: mapOf(stringType, element.cel), minSize: minSizes.container, maxElements, element, isMap: true };
}

function declareObject({ properties = {}, required = [] }: RuleSchema, name: string): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  const mandatory = new Set(required);
  let minSize = minSizes.container;
  for (const [property, schema] of Object.entries(properties)) {
    const field = escapeFieldName(property);
    const type = declareType(schema, isEmbedded(schema), `${name}.${field ?? ""}`);
    if (type === undefined) continue;
    if (field !== undefined) fields.set(field, type);
    const isAlwaysThere = mandatory.has(property) && schema.default === undefined;
    if (isAlwaysThere) minSize += Buffer.byteLength(property) + type.minSize + 4;
  }
  return { cel: structOf(name), minSize, maxElements: 0, fields };
}

function declareText({ format, maxLength, enum: values }: RuleSchema): DeclaredType {
  switch (format) {
    case "byte": {
      const maxElements = maxLength === undefined ? textLengthMax : Math.max(0, maxLength);
      return { cel: bytesType, minSize: minSizes.string, maxElements };
    }
    case "duration":
      return { cel: durationType, minSize: minSizes.duration, maxElements: timeTextMax.duration };
    case "date":
      return { cel: timestampType, minSize: minSizes.date, maxElements: timeTextMax.date };
    case "date-time":
      return { cel: timestampType, minSize: minSizes.dateTime, maxElements: timeTextMax["date-time"] };
    default: {
      const texts = (values ?? []).map((value) => (typeof value === "string" ? Buffer.byteLength(value) : 0));
      const longest = texts.length === 0 ? textLengthMax : Math.max(...texts);
      const maxElements = maxLength === undefined ? longest : boundedLength(maxLength);
      return { cel: stringType, minSize: minSizes.string, maxElements };
    }
  }
}

function boundedLength(maxLength: number): number {
  return Math.max(0, maxLength) * bytesPerCharacterMax;
}

/** Makes the object types of a declaration known to the checker, by their names. */
export function providerOf(root: DeclaredType): TypeProvider {
  const objects = new Map<string, DeclaredType>();
  const visit = (type: DeclaredType): void => {
    if (type.fields !== undefined) objects.set(type.cel.name, type);
    for (const field of type.fields?.values() ?? []) visit(field);
    if (type.element !== undefined) visit(type.element);
  };
  visit(root);
  return {
    findStruct: (name) => objects.get(name)?.cel,
    findField: (name, field) => {
      const fields = objects.get(name)?.fields;
      return (fields?.get(field) ?? fields?.get(reservedFieldName(field) ?? ""))?.cel;
    },
  };
}

/** Looks up how large the value at a path below a variable of this type may be. */
export function sizeAt(root: DeclaredType, path: readonly string[]): Range | undefined {
  let type: DeclaredType | undefined = root;
  for (const name of path.slice(1)) {
    if (name === "@keys") {
      type = type.isMap === true ? { cel: stringType, minSize: minSizes.string, maxElements: 0 } : undefined;
    } else {
      type = name === "@items" || name === "@values" ? type.element : type.fields?.get(name);
    }
    if (type === undefined) return undefined;
  }
  return { min: 0n, max: BigInt(type.maxElements) };
}
