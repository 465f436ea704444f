/**
 * Form of a response: base media type and, possibly, another shape of the object. Negotiated from Accept once per
 * request.
 */
export interface Representation {
  readonly mediaType: MediaType;
  readonly transform: Transform;
  readonly pretty: boolean;
}
export type MediaType =
  | "application/json"
  | "application/yaml"
  | "application/vnd.kubernetes.protobuf"
  | "application/cbor";
export type Transform =
  | { readonly kind: "none" }
  | {
      readonly kind: "table";
      readonly version: "v1" | "v1beta1";
      readonly includeObject: "None" | "Metadata" | "Object";
    }
  | { readonly kind: "partialMetadata"; readonly list: boolean; readonly version: "v1" | "v1beta1" };

export const plainJson: Representation = { mediaType: "application/json", transform: { kind: "none" }, pretty: false };

/** Reports whether stored bytes can be sent unchanged. */
export function isPlainJson(representation: Representation): boolean {
  return (
    representation.mediaType === "application/json" &&
    representation.transform.kind === "none" &&
    !representation.pretty
  );
}
