import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Client, ListOptions, ObjectList, ResourceType } from "./client.ts";

/** Number of objects in one answer, as in kubectl's lists. */
const pageObjects = 500;

/**
 * Yields the pages of a collection, all at one revision. If that revision is compacted before the last page, it throws
 * the server's 410, and the caller has to start again.
 */
export async function* listPages<T extends KubeObject>(
  client: Pick<Client, "list">,
  type: ResourceType<T>,
  { limit = pageObjects, ...options }: ListOptions = {},
): AsyncGenerator<ObjectList<T>, void> {
  let page = await client.list(type, { ...options, limit });
  yield page;
  // The continue token contains the revision.
  const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
  for (let token = page.metadata.continue ?? ""; token !== ""; token = page.metadata.continue ?? "") {
    page = await client.list(type, { ...rest, limit, continue: token });
    yield page;
  }
}

/** Reports whether the requested history is gone. */
export function isExpired(error: unknown): boolean {
  return error instanceof StatusError && error.code === 410;
}
