import { status } from "../../api/status.ts";

export type PatchType = "json" | "merge" | "strategic" | "apply";

const cborApply = "application/apply-patch+cbor";
const mediaTypes: ReadonlyMap<string, PatchType> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
  [cborApply, "apply"],
]);

/** Which of the optional types a resource takes. Custom resources take no strategic patch. */
export interface PatchTypes {
  readonly strategic: boolean;
  /** Whether CBOR is switched on. */
  readonly cbor: boolean;
}

/** The media types a resource takes, in the order in which the 415 lists them. */
function acceptedPatchMediaTypes(types: PatchTypes): readonly string[] {
  return [...mediaTypes.keys()].filter((mediaType) => isTaken(mediaType, types));
}

/** The kind of patch that a Content-Type announces; parameters do not count. Throws 415 for any other type. */
export function parsePatchType(contentType: string, options: PatchTypes): PatchType {
  const end = contentType.indexOf(";");
  const mediaType = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  const type = mediaTypes.get(mediaType);
  if (type === undefined || !isTaken(mediaType, options)) {
    // Upstream's router refuses these for built-in kinds, before any code that knows which types there are.
    throw options.strategic
      ? status.noRouteForMediaType()
      : status.unsupportedMediaType(acceptedPatchMediaTypes(options));
  }
  return type;
}

function isTaken(mediaType: string, { strategic, cbor }: PatchTypes): boolean {
  if (mediaTypes.get(mediaType) === "strategic") return strategic;
  return mediaType !== cborApply || cbor;
}
