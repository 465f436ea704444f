import type { TableRules } from "../../api/codec/table/table-rules.ts";
import { objectOf, textOf } from "../../api/json-reading.ts";
import type { TableColumn } from "../../api/scheme/resource.ts";
import type { CustomResourceColumnDefinition } from "../../api/types/apiextensions-v1.ts";
import { type CellReader, cellReaders } from "./printer-columns.ts";

const nameColumn: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  priority: 0,
};
const ageColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Returns the columns of tables: the name, and those that the version declares. */
export function customColumns(declared: readonly CustomResourceColumnDefinition[]): TableColumn[] {
  const columns = shown(declared);
  return [nameColumn, ...columns.slice(0, cellReaders(columns).length).map(columnOf)];
}

/** Returns the cells in the same order. */
export function customTable(declared: readonly CustomResourceColumnDefinition[]): TableRules {
  let readers: readonly CellReader[] | undefined;
  return {
    cells: () => ({}),
    row: (object, time) => {
      readers ??= cellReaders(shown(declared));
      return [textOf(objectOf(object["metadata"])["name"]), ...readers.map((read) => read(object, time))];
    },
  };
}

function shown(declared: readonly CustomResourceColumnDefinition[]): readonly CustomResourceColumnDefinition[] {
  return declared.length === 0 ? [ageColumn] : declared;
}

function columnOf(column: CustomResourceColumnDefinition): TableColumn {
  const { name, type, format = "", description = "", jsonPath, priority = 0 } = column;
  return {
    name,
    type: type as TableColumn["type"],
    format,
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
  };
}
