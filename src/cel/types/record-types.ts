import type { CelType } from "./cel-type.ts";
import type { TypeProvider } from "./type-provider.ts";

/** Declares object types by the types of their fields. */
export function recordTypes(records: ReadonlyMap<CelType, Readonly<Record<string, CelType>>>): TypeProvider {
  const byName = new Map([...records].map(([type, fields]) => [type.name, { type, fields }]));
  return {
    findStruct: (name) => byName.get(name)?.type,
    findField(name, field) {
      const fields = byName.get(name)?.fields;
      return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
    },
  };
}
