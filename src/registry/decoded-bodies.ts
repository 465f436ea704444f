import { decodeBody } from "../api/codec/stored-object.ts";
import type { Entry } from "../api/entry.ts";
import type { JsonObject } from "../api/json.ts";
import { ordinaryBytesMax } from "../api/object-extent.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { copyObject } from "./copy-object.ts";

/**
 * Limit of the stored bytes of the objects that were updated last: those of a thousand pods whose kubelets report. Their
 * decoded form takes twice the memory.
 */
const bytesMax = 6 * 1024 * 1024;

/**
 * The decoded bodies of objects that are updated again and again, so that a write need not parse what the one before has
 * encoded. An object's second update keeps its body, if it is still among the last ones then: a single pass over many
 * objects would only make copies. Nobody shares a body: each caller gets a copy.
 */
export class DecodedBodies {
  /** In the order in which they were stored; undefined after the first update. */
  readonly #bodies = new Map<Entry, JsonObject | undefined>();
  #bytes = 0;

  /** Returns the body of an entry without kind and apiVersion. The caller may change it. */
  of(entry: Entry): JsonObject {
    const known = this.#bodies.get(entry);
    return known === undefined ? decodeBody(entry) : copyObject(known);
  }

  /** Notes that the object, with its new resourceVersion, has been stored as this entry in place of another. */
  replace(before: Entry, entry: Entry, object: KubeObject): void {
    const isRepeated = this.#forget(before);
    if (entry.body.length > ordinaryBytesMax) return;
    this.#bodies.set(entry, isRepeated ? bodyOf(object) : undefined);
    this.#bytes += entry.body.length;
    for (const oldest of this.#bodies.keys()) {
      if (this.#bytes <= bytesMax) break;
      this.#forget(oldest);
    }
  }

  /** Returns false if it was not among the last ones. */
  #forget(entry: Entry): boolean {
    const wasKnown = this.#bodies.delete(entry);
    if (wasKnown) this.#bytes -= entry.body.length;
    return wasKnown;
  }
}

function bodyOf({ kind: _kind, apiVersion: _apiVersion, metadata, ...fields }: KubeObject): JsonObject {
  return copyObject({ metadata, ...fields } as unknown as JsonObject);
}
