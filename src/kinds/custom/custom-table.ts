import type { TableRules } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import type { TableColumn } from "../../api/scheme/resource.ts";
import { numberOf, objectOf, textOf } from "../../api/json-reading.ts";
import { type CellReader, cellReaders } from "./printer-columns.ts";

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
  const columns = shown(declared);
  return [nameColumn, ...columns.slice(0, cellReaders(columns).length).map(columnOf)];
}

/** Returns the cells in the same order. */
export function customTable(declared: readonly JsonObject[]): TableRules {
  let readers: readonly CellReader[] | undefined;
  return {
    cells: () => ({}),
    row: (object, nowMs) => {
      readers ??= cellReaders(shown(declared));
      return [textOf(objectOf(object["metadata"])["name"]), ...readers.map((read) => read(object, nowMs))];
    },
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
