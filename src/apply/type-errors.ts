import { goInterfaceType, goText } from "../api/go-text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { goSyntax } from "./go-syntax.ts";
import { itemElement, itemProblem } from "./list-items.ts";
import { elementText, fieldElement, type PathElement } from "./path-element.ts";
import { kindOf, type ListType, type MapType, type ScalarType, type ValueType } from "./value-type.ts";

/** Problems of one value that are collected; a body has a few, an attack has millions. */
const problemsMax = 1_000;

interface TypeProblem {
  readonly path: string;
  readonly text: string;
}

/** Why a value does not have its type, in upstream's words; undefined when it has it. */
export function typeError(
  value: JsonValue,
  type: ValueType,
  options: { readonly allowsDuplicates: boolean },
): string | undefined {
  const check = new Check(options.allowsDuplicates);
  check.value(value, type);
  if (check.problems.length === 0) return undefined;
  const texts = check.problems.map(({ path, text }) => (path === "" ? text : `${path}: ${text}`));
  if (texts.length < 2) return texts[0];
  return ["errors:", ...texts.map((text) => `  ${text}`)].join("\n");
}

class Check {
  readonly problems: TypeProblem[] = [];
  readonly #allowsDuplicates: boolean;
  readonly #path: PathElement[] = [];

  constructor(allowsDuplicates: boolean) {
    this.#allowsDuplicates = allowsDuplicates;
  }

  value(value: JsonValue, type: ValueType): void {
    if (value === null) return;
    switch (kindOf(type, value)) {
      case "scalar": {
        const problem = scalarProblem(value, type.scalar as ScalarType);
        if (problem !== undefined) this.#report(problem);
        return;
      }
      case "list":
        if (Array.isArray(value)) this.#list(value, type.list as ListType);
        else this.#report(`expected list, got &{${goText(value)}}`);
        return;
      case "map":
        if (isJsonObject(value)) this.#map(value, type.map as MapType);
        else this.#report(`expected map, got &{${goText(value)}}`);
    }
  }

  #report(text: string): void {
    if (this.problems.length >= problemsMax) return;
    this.problems.push({ path: this.#path.map(elementText).join(""), text });
  }

  #map(object: JsonObject, map: MapType): void {
    for (const key in object) {
      const field = map.fields.get(key);
      const type = field?.type ?? map.values;
      this.#path.push(field?.element ?? fieldElement(key));
      if (type === undefined) this.#report("field not declared in schema");
      else this.value(object[key] as JsonValue, type);
      this.#path.pop();
      // Upstream stops at the first undeclared field of a map.
      if (type === undefined) return;
    }
  }

  #list(items: readonly JsonValue[], list: ListType): void {
    const seen = new Set<PathElement>();
    for (const [at, item] of items.entries()) {
      if (list.atomic) {
        this.#item(`i:${at}`, item, list);
        continue;
      }
      const problem = itemProblem(item, list);
      if (problem !== undefined) {
        this.#report(`element ${at}: ${problem}`);
        return;
      }
      const element = itemElement(item, list);
      if (seen.has(element) && !this.#allowsDuplicates) {
        this.#report(`duplicate entries for key ${elementText(element)}`);
      }
      seen.add(element);
      this.#item(element, item, list);
    }
  }

  #item(element: PathElement, item: JsonValue, list: ListType): void {
    this.#path.push(element);
    this.value(item, list.items);
    this.#path.pop();
  }
}

function scalarProblem(value: JsonValue, type: ScalarType): string | undefined {
  switch (type) {
    case "numeric":
      if (typeof value === "number" || typeof value === "bigint") return undefined;
      return `expected numeric (int or float), got ${goInterfaceType(value)}`;
    case "string":
      return typeof value === "string"
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : `expected boolean, got &{${goText(value)}}`;
    case "untyped":
      return typeof value === "object" ? `expected any scalar, got &{${goText(value)}}` : undefined;
  }
}
