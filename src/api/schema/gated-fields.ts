import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, Schema, StructSchema } from "./schema.ts";

/** Removes a struct from its parent if it depends on the field that was just dropped from it. */
type Remove = (struct: JsonObject, dropped: JsonValue | undefined) => void;
type Visit = (parent: JsonObject, field: Field, remove: Remove | undefined) => void;

/** Parts of a struct that may hold fields behind a disabled gate. */
interface Plan {
  readonly closed: readonly Field[];
  readonly nested: readonly Field[];
}

/** Structs that are removed with the last of their fields. */
const goesWhenEmpty: ReadonlySet<string> = new Set(["core/v1.Lifecycle"]);
/**
 * Structs that would mean something else without such a field and are removed with it, such as a reference without its
 * namespace.
 */
const goesWithField: ReadonlySet<string> = new Set(["core/v1.TypedObjectReference"]);

/** Drops fields behind disabled feature gates, except from objects that already use them. */
export class GatedFields {
  readonly #enabled: (gate: string) => boolean;
  readonly #plans = new WeakMap<StructSchema, Plan>();

  /** @param enabled does not change afterwards */
  constructor(enabled: (gate: string) => boolean) {
    this.#enabled = enabled;
  }

  /** Drops such fields from `object`, except those that the stored object uses anywhere. */
  drop(schema: StructSchema, object: JsonObject, old: JsonObject | undefined): void {
    const { closed, nested } = this.#planOf(schema);
    if (closed.length === 0 && nested.length === 0) return;
    let used: ReadonlySet<Field> | undefined;
    this.#walk(schema, object, (parent, field, remove) => {
      // Nearly all objects have none of these fields, and then the stored one does not matter.
      used ??= this.#usedIn(schema, old);
      if (used.has(field)) return;
      const dropped = parent[field.name];
      delete parent[field.name];
      remove?.(parent, dropped);
    });
  }

  #usedIn(schema: StructSchema, object: JsonObject | undefined): ReadonlySet<Field> {
    const used = new Set<Field>();
    if (object !== undefined) this.#walk(schema, object, (_, field) => used.add(field));
    return used;
  }

  #walk(schema: StructSchema, object: JsonObject, visit: Visit, remove?: Remove): void {
    const { closed, nested } = this.#planOf(schema);
    for (const field of closed) if (object[field.name] !== undefined) visit(object, field, remove);
    for (const { name, schema: part } of nested) this.#walkValue(part, object[name], visit, () => delete object[name]);
  }

  #walkValue(schema: Schema, value: JsonValue | undefined, visit: Visit, remove?: () => void): void {
    if (schema.kind === "struct") {
      if (isJsonObject(value)) this.#walk(schema, value, visit, removal(schema.name, remove));
    } else if (schema.kind === "list") {
      if (Array.isArray(value)) for (const item of value) this.#walkValue(schema.items, item, visit);
    } else if (schema.kind === "map") {
      if (isJsonObject(value)) for (const item of Object.values(value)) this.#walkValue(schema.values, item, visit);
    }
  }

  #planOf(schema: StructSchema): Plan {
    let plan = this.#plans.get(schema);
    if (plan === undefined) {
      const fields = [...schema.fields.values()];
      plan = {
        closed: fields.filter((field) => this.#isClosed(field)),
        nested: fields.filter((field) => !this.#isClosed(field) && this.#hasClosed(field.schema, new Set())),
      };
      this.#plans.set(schema, plan);
    }
    return plan;
  }

  #isClosed({ gates }: Field): boolean {
    return gates.some((gate) => !this.#enabled(gate));
  }

  /** Reports whether a schema has such fields. Types may be recursive; `seen` holds the structs already visited. */
  #hasClosed(schema: Schema, seen: Set<StructSchema>): boolean {
    switch (schema.kind) {
      case "scalar":
        return false;
      case "list":
        return this.#hasClosed(schema.items, seen);
      case "map":
        return this.#hasClosed(schema.values, seen);
      case "struct":
        if (seen.has(schema)) return false;
        seen.add(schema);
        return [...schema.fields.values()].some(
          (field) => this.#isClosed(field) || this.#hasClosed(field.schema, seen),
        );
    }
  }
}

function removal(name: string, remove: (() => void) | undefined): Remove | undefined {
  if (remove === undefined) return undefined;
  return (struct, dropped) => {
    const isEmpty = Object.keys(struct).length === 0;
    if ((goesWhenEmpty.has(name) && isEmpty) || (goesWithField.has(name) && dropped !== "")) remove();
  };
}
