import { stringifyJson } from "../../api/codec/json.ts";
import type { JsonValue } from "../../api/json.ts";
import { RecentMap } from "../../process/recent-map.ts";

/** Number of parts that are remembered. Those of a template return with each object that is made from it. */
const partsMax = 1_000;
/** Length of the text of a longer part, of which only the smaller parts are compared. */
const charactersMax = 2_000;

/** Lets objects share the parts in which they are equal, so that thousands made from one template hold these once. */
export class EqualParts {
  readonly #parts = new RecentMap<string, JsonValue>(partsMax);

  /** Replaces the parts of an object in place. They must not be changed afterwards. */
  share(object: object | undefined): void {
    const holder = object as Record<string, JsonValue> | undefined;
    for (const key in holder) {
      const part = holder[key];
      if (typeof part === "object" && part !== null) holder[key] = this.#shared(part);
    }
  }

  #shared(part: JsonValue & object): JsonValue {
    const text = stringifyJson(part);
    const known = this.#parts.get(text);
    if (known === undefined) this.share(part);
    if (text.length <= charactersMax) this.#parts.set(text, known ?? part);
    return known ?? part;
  }
}
