import { ageOf } from "../../api/codec/table/human-duration.ts";
import type { TableRules } from "../../api/codec/table/table-rules.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { TableColumn } from "../../api/scheme/resource.ts";
import { valueAt } from "../../api/scheme/selectable-fields.ts";
import { numberOf, textOf } from "../../api/validation/fields.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";

const nameColumn: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  priority: 0,
};
const ageColumn: JsonObject = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Returns the columns of tables: the name, and those that the version declares. */
export function customColumns(declared: readonly JsonObject[]): TableColumn[] {
  return [nameColumn, ...shown(declared).map(columnOf)];
}

/** Returns the cells in the same order. */
export function customTable(declared: readonly JsonObject[]): TableRules {
  return {
    cells: () => ({}),
    row: (object, nowMs) => [
      textOf(fieldsOf(object["metadata"])["name"]),
      ...shown(declared).map((column) => cellOf(object, column, nowMs)),
    ],
  };
}

function shown(declared: readonly JsonObject[]): readonly JsonObject[] {
  return declared.length === 0 ? [ageColumn] : declared;
}

function columnOf(column: JsonObject): TableColumn {
  const path = textOf(column["jsonPath"]);
  return {
    name: textOf(column["name"]),
    type: textOf(column["type"]) as TableColumn["type"],
    format: textOf(column["format"]),
    description: textOf(column["description"]) || `Custom resource definition column (in JSONPath format): ${path}`,
    priority: numberOf(column["priority"]),
  };
}

function cellOf(object: JsonObject, column: JsonObject, nowMs: number): JsonValue {
  const value = valueAt(object, textOf(column["jsonPath"]).slice(1).split("."));
  if (value === undefined || value === null) return null;
  switch (column["type"]) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, nowMs) : null;
    default:
      return String(value);
  }
}
