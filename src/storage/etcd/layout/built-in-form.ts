import { joinBytes, toBytes } from "../../../api/codec/byte-text.ts";
import { parseJson } from "../../../api/codec/json.ts";
import {
  decodeMessage,
  encodeMessage,
  hasProtobufMagic,
  unwrapUnknown,
  wrapKind,
} from "../../../api/codec/protobuf.ts";
import { transcodeMessage } from "../../../api/codec/transcode-message.ts";
import { apiVersionOf } from "../../../api/gvk.ts";
import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { structForm } from "../../../api/scheme/object-form.ts";
import { encodeForStore } from "../../encode-for-store.ts";
import { bodyDocument } from "./body-document.ts";
import type { StoredVersion } from "./stored-version.ts";
import type { StoredVersions } from "./stored-versions.ts";
import { typedText } from "./typed-text.ts";
import type { StoredObject, ValueForm } from "./value-form.ts";

/** Encoding of the values of built-in kinds, as `--storage-media-type` names it. */
export type StorageMediaType = "application/json" | "application/vnd.kubernetes.protobuf";

/**
 * Values of a built-in kind are protobuf or JSON, in the version that kube-apiserver writes. Values in any other known
 * version and of either encoding can be read. A field that the version does not have is dropped, as upstream does.
 */
export class BuiltInForm implements ValueForm {
  readonly #versions: StoredVersions;
  readonly #mediaType: StorageMediaType;

  constructor(versions: StoredVersions, mediaType: StorageMediaType) {
    this.#versions = versions;
    this.#mediaType = mediaType;
  }

  encode(_key: string, { body }: StoredObject): Uint8Array {
    const { written } = this.#versions;
    const { schema, conversion, kind } = written;
    if (this.#mediaType === "application/json") {
      const document = conversion === undefined ? bodyDocument(body) : converted(written, bodyDocument(body));
      return toBytes(`${typedText(schema, { kind, apiVersion: apiVersionOf(written), ...document })}\n`);
    }
    if (conversion !== undefined)
      return wrapKind(written, encodeMessage(schema, converted(written, bodyDocument(body))));
    const message = transcodeMessage(schema, joinBytes([body.prefix, body.suffix]));
    return wrapKind(written, message ?? encodeMessage(schema, bodyDocument(body)));
  }

  decode(value: Uint8Array): StoredObject {
    const { info } = this.#versions;
    const { apiVersion, kind, document } = hasProtobufMagic(value) ? this.#fromProtobuf(value) : fromJson(value);
    const version = this.#version(apiVersion, kind);
    const form = structForm(version.schema);
    let { object } = form.decode(document, { kind, takesOver: true });
    form.applyDefaults(object);
    if (version.conversion !== undefined) {
      object = info.form.decode(version.conversion.toStorage(object), { kind: info.kind, takesOver: true }).object;
      info.form.applyDefaults(object);
    }
    info.form.complete(object);
    object["metadata"] ??= {};
    return encodeForStore(object as unknown as KubeObject, info);
  }

  #fromProtobuf(value: Uint8Array): Typed {
    const { apiVersion, kind, raw } = unwrapUnknown(value);
    return { apiVersion, kind, document: decodeMessage(this.#version(apiVersion, kind).schema, raw) };
  }

  #version(apiVersion: string, kind: string): StoredVersion {
    const version = this.#versions.byApiVersion.get(apiVersion);
    if (version !== undefined && version.kind === kind) return version;
    throw new Error(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  }
}

interface Typed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly document: JsonObject;
}

function fromJson(value: Uint8Array): Typed {
  const document = parseJson(value, { strict: false }).value;
  if (!isJsonObject(document)) throw new Error("the value is not an object");
  const { apiVersion = "", kind = "", ...fields } = document;
  return { apiVersion: String(apiVersion), kind: String(kind), document: fields };
}

/** Converts a document to the version that is written, with the fields in its order. */
function converted({ schema, conversion, kind }: StoredVersion, document: JsonObject): JsonObject {
  const inVersion = conversion?.fromStorage(document) ?? document;
  const form = structForm(schema);
  const { object } = form.decode(inVersion, { kind, takesOver: true });
  form.complete(object);
  return object;
}
