import { decodeMessageInSteps, unwrapUnknown } from "../../api/codec/protobuf.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import { structOf } from "../../api/scheme/object-form.ts";
import type { ServedResources } from "../../api/scheme/served-resources.ts";
import type { DecodeProtobuf } from "./object-text.ts";

/** Returns a decoder for objects of served kinds, by the type in their envelope. */
export function messageDecoder(scheme: ServedResources): DecodeProtobuf {
  return function* (bytes, valuesMax) {
    const { apiVersion, kind, raw } = unwrapUnknown(bytes);
    const info = scheme.resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
    if (info === undefined) return undefined;
    return { kind, apiVersion, ...(yield* decodeMessageInSteps(structOf(info), raw, valuesMax)) };
  };
}
