import { equalJson } from "../api/json.ts";
import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";

type OwnerReference = NonNullable<ObjectMeta["ownerReferences"]>[number];

const rest =
  "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed";

/** Removes owners that an object names twice, and warns of them. @param when follows "entries" in the warning */
export function dropRepeatedOwners(
  { metadata }: KubeObject,
  warn: (text: string) => void,
  when: "" | " after mutating admission happens",
): void {
  const owners = metadata.ownerReferences ?? [];
  if (owners.length < 2) return;
  const kept = new Map<string, OwnerReference[]>();
  const repeated: string[] = [];
  const distinct = owners.filter((owner) => {
    const uid = String(owner["uid"] ?? "");
    const others = kept.get(uid) ?? [];
    if (others.some((other) => equalJson(other, owner))) {
      repeated.push(uid);
      return false;
    }
    kept.set(uid, [...others, owner]);
    return true;
  });
  if (repeated.length === 0) return;
  metadata.ownerReferences = distinct;
  warn(`.metadata.ownerReferences contains duplicate entries${when}; ${rest}: ${repeated.join(", ")}`);
}
