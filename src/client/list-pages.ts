import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import type { Client, ListOptions, ObjectList, ResourceType } from "./client.ts";

/** The most objects in one answer, as in kubectl's lists. */
const pageObjects = 500;

/**
 * The pages of a whole collection, all of them of one moment. When the history of that moment is gone before the last one,
 * it throws the server's 410, and the caller has to begin anew.
 */
export async function* listPages<T extends KubeObject>(
  client: Pick<Client, "list">,
  type: ResourceType<T>,
  { limit = pageObjects, ...options }: ListOptions = {},
): AsyncGenerator<ObjectList<T>, void> {
  let page = await client.list(type, { ...options, limit });
  yield page;
  // The server's token says which revision it is.
  const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
  for (let token = page.metadata.continue ?? ""; token !== ""; token = page.metadata.continue ?? "") {
    page = await client.list(type, { ...rest, limit, continue: token });
    yield page;
  }
}

/** Reports whether the history that was asked for is gone. */
export function isExpired(error: unknown): boolean {
  return error instanceof StatusError && error.code === 410;
}
