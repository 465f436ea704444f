import { emptyJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import {
  celTypes,
  entriesOf,
  type HasJsonForm,
  isError,
  List,
  OpaqueValue,
  type Result,
  toJson,
  type Value,
  ValueMap,
} from "../../../cel/index.ts";

/** The type of a whole object; those of its parts are named after the path, as `Object.spec`. */
export const objectType = celTypes.structOf("Object");
export const patchOperationType = celTypes.structOf("JSONPatch");

/** A value that an expression makes by naming its type: `Object.spec{replicas: 3}`. */
abstract class MadeValue extends OpaqueValue implements HasJsonForm {
  readonly fields: ReadonlyMap<string, Value>;

  constructor(fields: ReadonlyMap<string, Value>) {
    super();
    this.fields = fields;
  }

  equals(other: Value): Result {
    return other === this;
  }

  toJsonForm(): JsonObject {
    const json = emptyJsonObject();
    for (const [name, value] of this.fields) json[name] = toJson(value) as JsonValue;
    return json;
  }
}

/** An object, or a part of one. */
export class ObjectValue extends MadeValue {
  readonly type: celTypes.CelType;

  constructor(type: celTypes.CelType, fields: ReadonlyMap<string, Value>) {
    super(fields);
    this.type = type;
  }
}

/** One operation of a JSON patch. */
export class PatchOperationValue extends MadeValue {
  get type(): celTypes.CelType {
    return patchOperationType;
  }

  /** Returns a field of text, "" if it is absent. */
  text(name: string): string {
    const value = this.fields.get(name);
    return typeof value === "string" ? value : "";
  }
}

/**
 * Reports the objects whose type is not named after the path of fields that leads to them. Lists and maps on the way have
 * no name.
 */
export function typeNameProblems(value: Value, path: string): string[] {
  const problems: string[] = [];
  addProblems(value, path, problems);
  return problems;
}

function addProblems(value: Value, path: string, problems: string[]): void {
  if (typeof value !== "object") return;
  if (value instanceof ObjectValue) {
    const { name } = value.type;
    if (name !== path) {
      const expected = `expected ${JSON.stringify(path)}, which matches field name path from root Object type`;
      problems.push(`unexpected type name ${JSON.stringify(name)}, ${expected}`);
    }
    for (const [field, item] of value.fields) {
      if (typeof item === "object") addProblems(item, `${path}.${field}`, problems);
    }
  } else if (value instanceof List) {
    for (let at = 0; at < value.size; at++) {
      const item = value.at(at);
      if (!isError(item)) addProblems(item, path, problems);
    }
  } else if (value instanceof ValueMap) {
    for (const [, item] of entriesOf(value)) {
      if (!isError(item)) addProblems(item, path, problems);
    }
  }
}
