import type { JsonValue } from "../../json.ts";

export function quantityText(quantity: JsonValue | undefined): string {
  return typeof quantity === "string" || typeof quantity === "number" ? String(quantity) : "";
}
