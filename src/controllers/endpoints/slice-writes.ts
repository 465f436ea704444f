import { thrownText } from "../../process/thrown-text.ts";
import type { Registry } from "../../registry/registry.ts";
import { removeObject } from "../../registry/remove-object.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { isNamespaceTerminating } from "../namespace-terminating.ts";
import { RetryError } from "../work-queue.ts";
import type { SliceChanges } from "./slice-plan.ts";

export type SliceOperation = "create" | "update" | "delete";

export interface SliceWritesParts {
  readonly slices: Registry;
  /** False while the owner of the slices is being deleted. */
  readonly mayCreate: boolean;
  /** `Service <namespace>/<name>`, for messages. */
  readonly owner: string;
  readonly changed: (operation: SliceOperation) => void;
}

/** Makes the changes. Each write is guarded by the state on which the plan is based. */
export async function writeSlices(
  { create, update, remove }: SliceChanges,
  { slices, mayCreate, owner, changed }: SliceWritesParts,
): Promise<void> {
  for (const slice of mayCreate ? create : []) {
    try {
      await slices.create(slice, slice.metadata.namespace ?? "", controllerManagerContext);
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      throw new RetryError(`failed to create EndpointSlice for ${owner}: ${thrownText(error)}`);
    }
    changed("create");
  }
  for (const slice of update) {
    const { namespace = "", name = "" } = slice.metadata;
    try {
      await slices.update(namespace, name, () => slice, controllerManagerContext);
    } catch (error) {
      throw new RetryError(`failed to update ${name} EndpointSlice for ${owner}: ${thrownText(error)}`);
    }
    changed("update");
  }
  for (const slice of remove) {
    if (await removeObject(slices, slice, controllerManagerContext)) changed("delete");
  }
}
