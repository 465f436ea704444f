/** Registries and repositories have names like `registry.example:5000/team/app`. */
const hostPattern =
  /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const pathPattern = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^\w[\w.-]{0,127}$/;
const hexDigits: ReadonlyMap<string, number> = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);
const nameCharactersMax = 255;

/**
 * Returns the tag in the name of an image. Without a tag it is `latest`, or "" if a digest pins the image. A malformed
 * name yields "".
 */
export function imageTagOf(image: string): string {
  const [named = "", digest, ...rest] = image.split("@");
  if (rest.length > 0 || (digest !== undefined && !isDigest(digest))) return "";
  if (/^[a-f0-9]{64}$/.test(image)) return "";
  const { domain, path } = splitDomain(named);
  const tagAt = path.indexOf(":");
  const [name, tag] = tagAt < 0 ? [path, undefined] : [path.slice(0, tagAt), path.slice(tagAt + 1)];
  if (!hostPattern.test(domain) || !pathPattern.test(name) || name.length > nameCharactersMax) return "";
  if (tag !== undefined && !tagPattern.test(tag)) return "";
  return tag ?? (digest === undefined ? "latest" : "");
}

/** The first part is a registry if it looks like a host; everything else is on the default registry. */
function splitDomain(name: string): { domain: string; path: string } {
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === "localhost" || first.toLowerCase() !== first;
  return isHost
    ? { domain: first, path: name.slice(slash + 1) }
    : { domain: "docker.io", path: slash < 0 ? `library/${name}` : name };
}

function isDigest(text: string): boolean {
  const [algorithm = "", hex = "", ...rest] = text.split(":");
  return rest.length === 0 && hex.length === hexDigits.get(algorithm) && /^[a-f0-9]+$/.test(hex);
}
