import { toBytes } from "../../../api/codec/byte-text.ts";
import { decodeCbor } from "../../../api/codec/cbor.ts";
import { parseJson } from "../../../api/codec/json.ts";
import { metaSchema } from "../../../api/codec/meta-schema.ts";
import type { GroupResource } from "../../../api/gvk.ts";
import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { decodeTyped } from "../../../api/schema/decode.ts";
import { plainIndex, storedBody } from "../../encode-for-store.ts";
import { bodyDocument } from "./body-document.ts";
import { sortedText } from "./sorted-text.ts";
import type { StoredObject, ValueForm } from "./value-form.ts";

/** Returns the kind of a custom resource; undefined if it has no definition. */
export type FindKind = (resource: GroupResource) => string | undefined;

/**
 * Custom resources are JSON with sorted keys and a line feed, in the version in which they were written. The index names
 * no schema, because the writer's may have been another: readers prune and default the object again, as upstream does.
 */
export class CustomForm implements ValueForm {
  readonly #resource: GroupResource;
  readonly #kindOf: FindKind;

  constructor(resource: GroupResource, kindOf: FindKind) {
    this.#resource = resource;
    this.#kindOf = kindOf;
  }

  encode(_key: string, { index, body }: StoredObject): Uint8Array {
    const kind = this.#kindOf(this.#resource);
    if (kind === undefined) throw new Error(`no definition names the kind of ${this.#resource.resource}`);
    return toBytes(`${sortedText({ ...bodyDocument(body), apiVersion: index.apiVersion, kind })}\n`);
  }

  decode(value: Uint8Array): StoredObject {
    const object = objectIn(value);
    const { apiVersion, metadata } = object;
    if (typeof apiVersion !== "string" || apiVersion === "") throw new Error("Object 'apiVersion' is missing");
    const typed = decodeTyped(metaSchema("meta/v1.ObjectMeta"), metadata ?? {}, {
      kind: "ObjectMeta",
      takesOver: true,
    });
    object["metadata"] = typed.object;
    const custom = object as unknown as KubeObject;
    const body = storedBody(custom);
    return { index: plainIndex(custom, body), body };
  }
}

/** Self-described CBOR, which upstream writes if its feature gate is on. */
const cborStart = Uint8Array.of(0xd9, 0xd9, 0xf7);

function objectIn(value: Uint8Array): JsonObject {
  const isCbor = cborStart.every((byte, at) => value[at] === byte);
  const document = isCbor ? decodeCbor(value) : parseJson(value, { strict: false }).value;
  if (!isJsonObject(document)) throw new Error("the value is not an object");
  return document;
}
