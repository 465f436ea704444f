import { stringifyObject } from "../../api/codec/managed-fields-text.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";

/** The documents of a request in one version. Nobody changes them: a patch makes new ones. */
export class ShownDocuments {
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  #objectText: string | undefined;
  #oldObjectText: string | undefined;

  constructor(object: KubeObject | undefined, oldObject: KubeObject | undefined) {
    this.object = object;
    this.oldObject = oldObject;
  }

  /** JSON, written once for all readers. */
  get objectText(): string {
    return (this.#objectText ??= textOf(this.object));
  }

  get oldObjectText(): string {
    return (this.#oldObjectText ??= textOf(this.oldObject));
  }

  /** Returns the documents with another object. */
  withObject(object: KubeObject): ShownDocuments {
    const next = new ShownDocuments(object, this.oldObject);
    next.#oldObjectText = this.#oldObjectText;
    return next;
  }
}

function textOf(document: KubeObject | undefined): string {
  return document === undefined ? "null" : stringifyObject(document as unknown as JsonObject);
}
