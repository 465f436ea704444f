import { status } from "../api/status.ts";

export type PatchType = "json" | "merge" | "strategic" | "apply";

const mediaTypes: ReadonlyMap<string, PatchType> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/apply-patch+yaml", "apply"],
]);

/** The media types a resource takes, in the order in which the 415 lists them. Custom resources take no strategic patch. */
export function acceptedPatchMediaTypes({ strategic }: { strategic: boolean }): readonly string[] {
  return [...mediaTypes].filter(([, type]) => strategic || type !== "strategic").map(([mediaType]) => mediaType);
}

/** The kind of patch that a Content-Type announces; parameters do not count. Throws 415 for any other type. */
export function parsePatchType(contentType: string, options: { strategic: boolean }): PatchType {
  const end = contentType.indexOf(";");
  const mediaType = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  const type = mediaTypes.get(mediaType);
  if (type === undefined || (type === "strategic" && !options.strategic)) {
    throw status.unsupportedMediaType(acceptedPatchMediaTypes(options));
  }
  return type;
}
