import { columnDescription } from "./column-descriptions.ts";
import type { TableColumn } from "./resource.ts";

/** One column in the generated data. */
export interface ColumnEntry {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly priority?: number;
}

/** Columns of a resource without any of its own. */
const defaultColumns: readonly ColumnEntry[] = [
  { name: "Name", type: "string", format: "name" },
  { name: "Created At", type: "date" },
];

/** Completes table columns with the parts that the generated data leaves out. */
export function tableColumns(kind: string, entries: readonly ColumnEntry[] = defaultColumns): readonly TableColumn[] {
  return entries.map(({ name, type, format = "", priority = 0 }) => ({
    name,
    type: type as TableColumn["type"],
    format,
    description: columnDescription(kind, name) ?? "",
    priority,
  }));
}
