import type { TableColumn } from "./resource.ts";

/** One column as the generated data has it. */
export interface ColumnEntry {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly priority?: number;
}

/** Columns of a resource that has none of its own. */
const defaultColumns: readonly ColumnEntry[] = [
  { name: "Name", type: "string", format: "name" },
  { name: "Created At", type: "date" },
];

const descriptions: Readonly<Record<string, string>> = {
  Name: "Name of the object. Together with its namespace it identifies the object among those of its kind.",
  Age: "Time since the object was created.",
  "Created At": "When the object was created, in UTC.",
};

/** Table columns with the parts filled in that the data leaves out. */
export function tableColumns(kind: string, entries: readonly ColumnEntry[] = defaultColumns): readonly TableColumn[] {
  return entries.map(({ name, type, format = "", priority = 0 }) => ({
    name,
    type: type as TableColumn["type"],
    format,
    description: descriptions[name] ?? `${name} of the ${kind}.`,
    priority,
  }));
}
