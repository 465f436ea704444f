import { cloneJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Clock } from "../process/clock.ts";
import { alreadyTracked } from "./field-ownership.ts";
import type { Registry } from "./registry.ts";
import { serverContext } from "./server-context.ts";
import type { Strategy } from "./strategy.ts";
import { setManagedFields } from "./system-fields.ts";

export interface ServerApply {
  readonly registry: Registry;
  readonly clock: Clock;
  /** The field manager that clients know. */
  readonly manager: string;
  readonly subresource?: { readonly name: string; readonly strategy: Strategy };
}

/** Applies a document to a cluster-wide object that exists, and takes over fields of other managers. */
export async function applyAsServer(
  { registry, clock, manager, subresource }: ServerApply,
  name: string,
  document: JsonObject,
): Promise<void> {
  const path = subresource?.name ?? "";
  const merged = async (old: KubeObject) => {
    const writer = { manager, subresource: path, version: registry.info, nowMs: clock.nowMs(), force: true };
    const outcome = await registry.ownership.apply(old, document, writer);
    if (outcome.kind === "conflict") throw new Error(outcome.message);
    const object = (outcome.object ?? cloneJson(old as unknown as JsonObject)) as unknown as KubeObject;
    setManagedFields(object, outcome.managedFields);
    return object;
  };
  await registry.update("", name, merged, serverContext, {
    ...(subresource && { strategy: subresource.strategy }),
    subresource: path,
    reapplies: true,
    tracker: alreadyTracked,
  });
}
