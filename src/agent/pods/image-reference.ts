import { imageTagOf } from "../../kinds/core/image-name.ts";

/**
 * Returns the name of an image with the tag `latest` if it names neither a tag nor a digest.
 * @throws Error in upstream's words for a malformed name
 */
export function imageReference(image: string): string {
  const tag = imageTagOf(image);
  const digestAt = image.indexOf("@");
  if (tag !== "") return digestAt > 0 || image.endsWith(`:${tag}`) ? image : `${image}:${tag}`;
  // A digest in place of a tag leaves the tag empty, as a malformed name does. Both parts are tried on their own.
  const isPinned = imageTagOf(image.slice(0, digestAt)) !== "" && imageTagOf(`a:b${image.slice(digestAt)}`) === "b";
  if (digestAt > 0 && isPinned) return image;
  throw new Error(`couldn't parse image name ${JSON.stringify(image)}: ${problemOf(image)}`);
}

function problemOf(image: string): string {
  if (/^[a-f0-9]{64}$/.test(image)) {
    return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  }
  const first = image.split("/")[0] ?? "";
  const hasHost = image.includes("/") && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const remainder = hasHost ? image.slice(first.length + 1) : image;
  const path = (hasHost || image.includes("/") ? remainder : `library/${remainder}`).split(":")[0] ?? "";
  if (path.toLowerCase() !== path) return `invalid reference format: repository name (${path}) must be lowercase`;
  return "invalid reference format";
}
