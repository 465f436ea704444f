import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, Schema, StructSchema } from "./schema.ts";

/** Work on one struct of a type, prepared once for all its objects. */
export type StructStep = (object: JsonObject) => void;

interface Plan {
  readonly step: StructStep | undefined;
  /** Fields with work to do below them. */
  readonly nested: readonly Field[];
}

/** Visits the structs of decoded objects that a step applies to, from the outside in, skipping all other parts. */
export class StructWalk {
  readonly #stepOf: (schema: StructSchema) => StructStep | undefined;
  readonly #plans = new WeakMap<StructSchema, Plan>();

  /** @param stepOf returns undefined for structs without a step of their own */
  constructor(stepOf: (schema: StructSchema) => StructStep | undefined) {
    this.#stepOf = stepOf;
  }

  /** @param settled an object that was visited before; parts that are the same object in both are skipped */
  visit(schema: StructSchema, object: JsonObject, settled?: JsonValue): void {
    const { step, nested } = this.#planOf(schema);
    step?.(object);
    const before = isJsonObject(settled) ? settled : undefined;
    for (const { name, schema: part } of nested) {
      const value = object[name];
      if (value !== undefined && value !== null) this.#descend(part, value, before?.[name]);
    }
  }

  #descend(schema: Schema, value: JsonValue, settled: JsonValue | undefined): void {
    if (value === settled) return;
    if (schema.kind === "struct") {
      if (isJsonObject(value)) this.visit(schema, value, settled);
    } else if (schema.kind === "list") {
      const before = Array.isArray(settled) ? settled : [];
      if (Array.isArray(value)) for (const [at, item] of value.entries()) this.#descend(schema.items, item, before[at]);
    } else if (schema.kind === "map") {
      const before = isJsonObject(settled) ? settled : undefined;
      if (!isJsonObject(value)) return;
      for (const key of Object.keys(value)) this.#descend(schema.values, value[key] as JsonValue, before?.[key]);
    }
  }

  #planOf(schema: StructSchema): Plan {
    let plan = this.#plans.get(schema);
    if (plan === undefined) {
      const nested = [...schema.fields.values()].filter((field) => this.#concerns(field.schema, new Set()));
      plan = { step: this.#stepOf(schema), nested };
      this.#plans.set(schema, plan);
    }
    return plan;
  }

  /**
   * Reports whether a struct at or below the schema has a step. Types may be recursive; `seen` holds the structs
   * already visited.
   */
  #concerns(schema: Schema, seen: Set<StructSchema>): boolean {
    switch (schema.kind) {
      case "scalar":
        return false;
      case "list":
        return this.#concerns(schema.items, seen);
      case "map":
        return this.#concerns(schema.values, seen);
      case "struct":
        if (seen.has(schema)) return false;
        seen.add(schema);
        if (this.#stepOf(schema) !== undefined) return true;
        return [...schema.fields.values()].some((field) => this.#concerns(field.schema, seen));
    }
  }
}
