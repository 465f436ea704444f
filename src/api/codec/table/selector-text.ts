import type { JsonValue } from "../../json.ts";
import { labelSelectorText } from "../../label-selector.ts";
import { labelSelectorOf } from "../../label-selector-object.ts";

/** Formats a selector as `app=web,tier in (a,b)`; `<none>` without requirements. */
export function selectorText(selector: JsonValue | undefined): string {
  return (selectorOf(selector) ?? "<error>") || "<none>";
}

/** Formats a selector; undefined if it is malformed. */
export function selectorOf(selector: JsonValue | undefined): string | undefined {
  const found = labelSelectorOf(selector);
  return found === undefined ? undefined : labelSelectorText(found);
}
