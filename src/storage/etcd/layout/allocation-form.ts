import { metaSchema } from "../../../api/codec/meta-schema.ts";
import { decodeMessage, encodeMessage, unwrapUnknown, wrapUnknown } from "../../../api/codec/protobuf.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import type { Field, ScalarKind, StructSchema } from "../../../api/schema/schema.ts";
import { plainIndex, storedBody } from "../../encode-for-store.ts";
import { bodyDocument } from "./body-document.ts";
import type { ValueForm } from "./value-form.ts";

const type = { apiVersion: "v1", kind: "RangeAllocation" };

/** Bitmaps of what is allocated from a range, such as node ports. They are protobuf, and no API serves them. */
export const allocationForm: ValueForm = {
  encode: (_key, { body }) => wrapUnknown(type, encodeMessage(schema(), bodyDocument(body))),
  decode(value) {
    const { kind, raw } = unwrapUnknown(value);
    if (kind !== type.kind) throw new Error(`the value is a ${JSON.stringify(kind)}, not a ${type.kind}`);
    const object = { ...type, metadata: {}, ...decodeMessage(schema(), raw) } as unknown as KubeObject;
    const body = storedBody(object);
    return { index: plainIndex(object, body), body };
  },
};

let compiled: StructSchema | undefined;

function schema(): StructSchema {
  const endpoints = metaSchema("core/v1.Endpoints");
  const metadata = endpoints.fields.get("metadata") as Field;
  const field = (name: string, number: number, scalar: ScalarKind): Field => ({
    ...metadata,
    name,
    number,
    schema: { kind: "scalar", scalar },
    omitEmpty: false,
  });
  compiled ??= {
    kind: "struct",
    name: "core/v1.RangeAllocation",
    atomic: false,
    preserveUnknown: false,
    protoInline: new Map(),
    fields: new Map([
      ["metadata", metadata],
      ["range", field("range", 2, "string")],
      ["data", field("data", 3, "bytes")],
    ]),
  };
  return compiled;
}
