import type { JsonValue } from "../../json.ts";
import { labelSelectorOf } from "../../label-selector-object.ts";
import { labelSelectorText } from "../../label-selector.ts";

/** `app=web,tier in (a,b)`; `<none>` for a selector without requirements. */
export function selectorText(selector: JsonValue | undefined): string {
  return (selectorOf(selector) ?? "<error>") || "<none>";
}

/** Undefined for a selector that means nothing. */
export function selectorOf(selector: JsonValue | undefined): string | undefined {
  const found = labelSelectorOf(selector);
  return found === undefined ? undefined : labelSelectorText(found);
}
