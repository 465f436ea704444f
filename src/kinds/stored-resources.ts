import type { GroupResource } from "../api/gvk.ts";
import resourcesJson from "../api/scheme/generated/resources.json";
import type { ResourceFinder } from "../storage/encryption/entry-cipher.ts";

/** Number of slashes in the longest prefix of a resource, as in `/registry/services/specs/`. */
const prefixSlashesMax = 4;
/** Events are stored for both of their groups. Upstream's configurations name the core group. */
const eventsGroup = "events.k8s.io";

/** Returns a finder for the built-in kinds, served or not, and for custom ones, below `/registry/<group>/<plural>/`. */
export function storedResources(): ResourceFinder {
  const builtIn = new Map<string, GroupResource>();
  for (const [name, entry] of Object.entries(resourcesJson as Readonly<Record<string, { readonly prefix?: string }>>)) {
    if (entry.prefix === undefined) continue;
    const resource = name.slice(name.lastIndexOf("/") + 1);
    const group = name.split("/").length === 3 ? name.slice(0, name.indexOf("/")) : "";
    if (group !== eventsGroup) builtIn.set(`${entry.prefix}/`, { group, resource });
  }
  return (key) => {
    const slashes = slashesIn(key);
    for (const at of slashes.toReversed()) {
      const found = builtIn.get(key.slice(0, at + 1));
      if (found !== undefined) return found;
    }
    const [, first = 0, second = 0, third] = slashes;
    const group = key.slice(first + 1, second);
    if (third === undefined || !group.includes(".")) return undefined;
    // A definition may also use the group of built-in kinds, whose own keys are found above.
    return { group, resource: key.slice(second + 1, third) };
  };
}

/** Returns the places of the first slashes of a key. */
function slashesIn(key: string): number[] {
  const places: number[] = [];
  for (let at = key.indexOf("/"); at >= 0 && places.length < prefixSlashesMax; at = key.indexOf("/", at + 1)) {
    places.push(at);
  }
  return places;
}
