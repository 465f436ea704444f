import { stringifyJson } from "../../api/codec/json.ts";
import { type FieldError, type FieldErrorReason, fieldError } from "../../api/field-error.ts";
import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { Field, Schema, StructSchema } from "../../api/schema/schema.ts";
import { formatProblems } from "./format.ts";
import { type Marker, parseMarker } from "./marker.ts";

/** Problems of an object by the declared rules. */
export interface Verdict {
  readonly errors: readonly FieldError[];
  /** `<reason> <path>` of every check that ran, passed or failed. */
  readonly checked: ReadonlySet<string>;
}

/** Outcome of the checks of one object. */
interface Run {
  readonly errors: FieldError[];
  readonly checked: Set<string>;
}

interface FieldRules {
  readonly field: Field;
  readonly markers: readonly Marker[];
  readonly descends: boolean;
}
interface StructRules {
  readonly fields: readonly FieldRules[];
  /** Fields of which exactly one must be set. */
  readonly union: readonly string[];
}

/** A value, the stored value in its place, and its path. */
interface Place {
  readonly value: JsonValue | undefined;
  readonly old: JsonValue | undefined;
  readonly updates: boolean;
  readonly path: string;
}

/** Evaluates the rules that types declare about their fields. */
export class DeclaredRules {
  readonly #enabled: (gate: string) => boolean;
  readonly #rules = new WeakMap<StructSchema, StructRules>();

  /** @param enabled does not change afterwards */
  constructor(enabled: (gate: string) => boolean) {
    this.#enabled = enabled;
  }

  /**
   * Checks an object; undefined if its type declares nothing. Parts that an update leaves unchanged are not checked.
   */
  judge(schema: StructSchema, object: JsonObject, old: JsonObject | undefined): Verdict | undefined {
    const { fields, union } = this.#rulesOf(schema);
    if (fields.length === 0 && union.length === 0) return undefined;
    const run: Run = { errors: [], checked: new Set() };
    this.#struct(schema, { value: object, old, updates: old !== undefined, path: "" }, run);
    return run;
  }

  #struct(schema: StructSchema, { value, old, updates, path }: Place, run: Run): void {
    if (!isJsonObject(value)) return;
    const { fields, union } = this.#rulesOf(schema);
    const stored = isJsonObject(old) ? old : undefined;
    if (union.length > 0) checkUnion(union, value, path, run);
    for (const { field, markers, descends } of fields) {
      const place: Place = {
        value: value[field.name],
        old: stored?.[field.name],
        updates: updates && stored !== undefined,
        path: path === "" ? field.name : `${path}.${field.name}`,
      };
      if (place.updates && equalJson(place.value, place.old)) continue;
      const absent = isAbsent(field, place.value);
      const stop = this.#apply(markers, field, place, absent, value, run);
      if (descends && !absent && !stop) this.#descend(field.schema, place, keysOf(field, markers), run);
    }
  }

  /** Applies the rules of a value. Returns true if it needs no further checks. */
  #apply(
    markers: readonly Marker[],
    field: Field,
    place: Place,
    absent: boolean,
    parent: JsonObject,
    run: Run,
  ): boolean {
    const before = run.errors.length;
    for (const marker of markers) {
      const active = this.#active(marker);
      if (active === undefined) continue;
      if (absent) checkAbsent(active, place, parent, run);
      else checkPresent(active, place, parent, keysOf(field, markers), run);
    }
    return run.errors.length > before && absent;
  }

  #active(marker: Marker): Marker | undefined {
    if (marker.kind !== "ifGate") return marker;
    return this.#enabled(marker.gate) === marker.enabled ? this.#active(marker.rule) : undefined;
  }

  #descend(schema: Schema, place: Place, keys: readonly string[], run: Run): void {
    if (schema.kind === "struct") this.#struct(schema, place, run);
    if (schema.kind === "list" && Array.isArray(place.value)) {
      const stored = keys.length > 0 && Array.isArray(place.old) ? firstByKey(place.old, keys) : undefined;
      place.value.forEach((value, at) => {
        const old = stored?.get(keyOf(value, keys));
        const updates = place.updates && old !== undefined;
        if (updates && equalJson(value, old)) return;
        this.#descend(schema.items, { value, old, updates, path: `${place.path}[${at}]` }, [], run);
      });
    }
    if (schema.kind === "map" && isJsonObject(place.value)) {
      const stored = isJsonObject(place.old) ? place.old : {};
      for (const [key, value] of Object.entries(place.value)) {
        const old = Object.hasOwn(stored, key) ? stored[key] : undefined;
        const updates = place.updates && old !== undefined;
        this.#descend(schema.values, { value, old, updates, path: `${place.path}[${key}]` }, [], run);
      }
    }
  }

  #rulesOf(schema: StructSchema): StructRules {
    let rules = this.#rules.get(schema);
    if (rules === undefined) {
      const all = [...schema.fields.values()].map((field) => fieldRules(field));
      rules = {
        fields: all.filter(({ markers, descends }) => markers.length > 0 || descends),
        union: all.filter(({ markers }) => markers.some(isUnionMember)).map(({ field }) => field.name),
      };
      this.#rules.set(schema, rules);
    }
    return rules;
  }
}

function fieldRules(field: Field): FieldRules {
  const markers = (field.markers ?? []).map(parseMarker).filter((marker) => marker !== undefined);
  return { field, markers, descends: declaresAnything(field.schema, new Set()) };
}

function isUnionMember({ kind }: Marker): boolean {
  return kind === "unionMember";
}

/**
 * Reports whether anything at or below the schema has a rule. Types may be recursive; `seen` holds the schemas already
 * visited.
 */
function declaresAnything(schema: Schema, seen: Set<StructSchema>): boolean {
  switch (schema.kind) {
    case "scalar":
      return false;
    case "list":
      return declaresAnything(schema.items, seen);
    case "map":
      return declaresAnything(schema.values, seen);
    case "struct":
      if (seen.has(schema)) return false;
      seen.add(schema);
      return [...schema.fields.values()].some(
        (field) => field.markers !== undefined || declaresAnything(field.schema, seen),
      );
  }
}

/** Reports whether a value counts as absent: zero where zero and absent are the same, and any empty list. */
function isAbsent({ pointer }: Field, value: JsonValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return !pointer && (value === "" || value === 0 || value === false);
}

function checkAbsent(marker: Marker, { old, updates, path }: Place, parent: JsonObject, run: Run): void {
  switch (marker.kind) {
    case "required":
      report(run, "FieldValueRequired", path, fieldError.required(path));
      break;
    case "dependentRequired":
      if (isSet(parent[marker.other])) report(run, "FieldValueRequired", path, fieldError.required(path));
      break;
    case "immutable":
    case "noUnset":
      if (updates && old !== undefined) {
        report(run, "FieldValueInvalid", path, fieldError.invalid(path, null, changeTexts[marker.kind]));
      }
      break;
  }
}

function checkPresent(marker: Marker, place: Place, parent: JsonObject, keys: readonly string[], run: Run): void {
  const { value, old, updates, path } = place;
  switch (marker.kind) {
    case "required":
      run.checked.add(`FieldValueRequired ${path}`);
      break;
    case "forbidden":
      report(run, "FieldValueForbidden", path, fieldError.forbidden(path));
      break;
    case "dependentForbidden":
      if (isSet(parent[marker.other])) report(run, "FieldValueForbidden", path, fieldError.forbidden(path));
      break;
    case "immutable":
    case "noModify":
    case "noSet":
      checkChange(marker.kind, updates, old, path, run);
      break;
    case "unique":
      checkUnique(marker.by, value, keys, path, run);
      break;
    case "eachValue":
      if (Array.isArray(value)) {
        value.forEach((each, at) =>
          checkPresent(marker.rule, { ...place, value: each, path: `${path}[${at}]` }, {}, [], run),
        );
      }
      break;
    case "eachKey":
      if (isJsonObject(value)) {
        for (const key of Object.keys(value)) checkPresent(marker.rule, { ...place, value: key, path }, {}, [], run);
      }
      break;
    case "subfield":
      if (isJsonObject(value) && isSet(value[marker.name])) {
        const inner = { ...place, value: value[marker.name], path: `${path}.${marker.name}` };
        checkPresent(marker.rule, inner, value, [], run);
      }
      break;
    case "format":
      if (typeof value === "string") {
        const problems = formatProblems(marker.format, value);
        if (problems.length > 0) report(run, "FieldValueInvalid", path, fieldError.invalid(path, value, problems[0]));
      }
      break;
    default:
      checkLimit(marker, value, path, run);
  }
}

function checkLimit(marker: Marker, value: JsonValue | undefined, path: string, run: Run): void {
  switch (marker.kind) {
    case "maxItems":
      run.checked.add(`FieldValueTooMany ${path}`);
      if (Array.isArray(value) && value.length > marker.limit) {
        run.errors.push(fieldError.tooMany(path, value.length, marker.limit));
      }
      break;
    case "maxLength":
    case "maxBytes":
      run.checked.add(`FieldValueTooLong ${path}`);
      if (typeof value === "string" && Buffer.byteLength(value) > marker.limit) {
        run.errors.push(fieldError.tooLong(path, marker.limit));
      }
      break;
    case "minimum":
      if (isNumber(value) && value < marker.limit) {
        const text = `must be greater than or equal to ${marker.limit}`;
        report(run, "FieldValueInvalid", path, fieldError.invalid(path, value, text));
      }
      break;
    case "maximum":
      if (isNumber(value) && value > marker.limit) {
        const text = `must be less than or equal to ${marker.limit}`;
        report(run, "FieldValueInvalid", path, fieldError.invalid(path, value, text));
      }
      break;
  }
}

/** The errors about changes show no value, as upstream's do not. */
const changeTexts = {
  immutable: "field is immutable",
  noModify: "field cannot be modified once set",
  noSet: "field cannot be set once created",
  noUnset: "field cannot be cleared once set",
} as const;

function checkChange(
  kind: "immutable" | "noModify" | "noSet",
  updates: boolean,
  old: JsonValue | undefined,
  path: string,
  run: Run,
): void {
  const forbidden = kind === "immutable" || (kind === "noSet" ? old === undefined : old !== undefined);
  if (updates && forbidden) {
    report(run, "FieldValueInvalid", path, fieldError.invalid(path, null, changeTexts[kind]));
  }
}

function checkUnique(
  by: "value" | "keys",
  value: JsonValue | undefined,
  keys: readonly string[],
  path: string,
  run: Run,
) {
  if (!Array.isArray(value) || (by === "keys" && keys.length === 0)) return;
  const seen = new Set<string>();
  value.forEach((each, at) => {
    const place = `${path}[${at}]`;
    run.checked.add(`FieldValueDuplicate ${place}`);
    const key = by === "keys" ? keyOf(each, keys) : stringifyJson(each);
    if (seen.has(key)) run.errors.push(fieldError.duplicate(place, each));
    seen.add(key);
  });
}

function checkUnion(members: readonly string[], value: JsonObject, path: string, run: Run): void {
  const present = members.filter((name) => isSet(value[name]));
  if (present.length === 1) return;
  const all = members.map((name) => `\`${name}\``).join(", ");
  const error =
    present.length === 0
      ? fieldError.invalid(path, "", `must specify one of: ${all}`)
      : fieldError.invalid(path, `{${present.join(", ")}}`, `must specify exactly one of: ${all}`);
  report(run, "FieldValueInvalid", path, error);
}

function report(run: Run, reason: FieldErrorReason, path: string, error: FieldError): void {
  run.checked.add(`${reason} ${path}`);
  run.errors.push(error);
}

function keysOf({ listMapKeys }: Field, markers: readonly Marker[]): readonly string[] {
  const named = markers.flatMap((marker) => (marker.kind === "mapKey" ? [marker.name] : []));
  return named.length > 0 ? named : listMapKeys;
}

function firstByKey(list: readonly JsonValue[], keys: readonly string[]): ReadonlyMap<string, JsonValue> {
  const items = new Map<string, JsonValue>();
  for (const item of list) {
    const key = keyOf(item, keys);
    if (!items.has(key)) items.set(key, item);
  }
  return items;
}

function keyOf(item: JsonValue, keys: readonly string[]): string {
  return stringifyJson(keys.map((name) => (isJsonObject(item) ? (item[name] ?? null) : null)));
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

function isNumber(value: JsonValue | undefined): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
