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

  visit(schema: StructSchema, object: JsonObject): void {
    const { step, nested } = this.#planOf(schema);
    step?.(object);
    for (const field of nested) {
      const value = object[field.name];
      if (value !== undefined && value !== null) this.#descend(field.schema, value);
    }
  }

  #descend(schema: Schema, value: JsonValue): void {
    if (schema.kind === "struct") {
      if (isJsonObject(value)) this.visit(schema, value);
    } else if (schema.kind === "list") {
      if (Array.isArray(value)) for (const item of value) this.#descend(schema.items, item);
    } else if (schema.kind === "map") {
      if (isJsonObject(value)) {
        for (const key of Object.keys(value)) this.#descend(schema.values, value[key] as JsonValue);
      }
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
