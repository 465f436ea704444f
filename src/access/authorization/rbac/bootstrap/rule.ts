import type { JsonObject } from "../../../../api/json.ts";

/** The verbs in the combinations of the default roles. */
export const read = "get list watch";
export const write = "create delete deletecollection patch update";
export const readWrite = `${read} ${write}`;

/**
 * Returns a rule of a default role. Each list consists of words separated by spaces; `core` is the group without a name.
 * `allow("get list", "core apps", "pods deployments")`
 */
export function allow(verbs: string, groups: string, resources: string, names?: string): JsonObject {
  return {
    apiGroups: words(groups)
      .map((group) => (group === "core" ? "" : group))
      .sort(),
    resources: words(resources).sort(),
    ...(names === undefined ? {} : { resourceNames: words(names).sort() }),
    verbs: words(verbs).sort(),
  };
}

export function allowUrls(verbs: string, urls: string): JsonObject {
  return { nonResourceURLs: words(urls).sort(), verbs: words(verbs).sort() };
}

/** The rule for events, which every component reports. */
export const allowEvents: JsonObject = allow("create patch update", "core events.k8s.io", "events");

function words(text: string): string[] {
  return text.split(" ");
}
