import { isBeingDeleted } from "../../api/codec/stored-metadata.ts";
import { StatusError } from "../../api/status.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import { cleanupFinalizer } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { isEstablished } from "../../kinds/apiextensions/definition-conditions.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import type { Condition } from "./conditions.ts";

/** Skips admission: deleting a definition includes its instances, so no plugin may refuse that part alone. */
const context: WriteContext = { ...controllerManagerContext, skipsAdmission: true };

/** Built-in kinds whose objects a definition could name although they are not its own. */
const builtIn: ReadonlySet<string> = new Set([
  "apiservices.apiregistration.k8s.io",
  "customresourcedefinitions.apiextensions.k8s.io",
]);

/** The progress of a definition's deletion. */
export interface DeletionProgress {
  readonly condition: Condition;
  readonly isDone: boolean;
}

const inProgress = terminating("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress");

/** The condition of a definition whose instances were not gone in time. Their deletion is retried. */
export const unconfirmedDeletion = terminating(
  "True",
  "InstanceDeletionCheck",
  "could not confirm zero CustomResources remaining: timed out waiting for the condition",
);

export function awaitsCleanup({ metadata }: CustomResourceDefinition): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(cleanupFinalizer);
}

/** Deletes the instances of a definition. They stay while finalizers hold them. */
export async function deleteInstances(
  definition: CustomResourceDefinition,
  registries: Registries,
): Promise<DeletionProgress> {
  const { group, names } = definition.spec;
  const plural = definition.status?.acceptedNames.plural || names.plural;
  if (builtIn.has(`${plural}.${group}`)) {
    return ended("OverlappingBuiltInResource", "instances overlap with built-in resources in storage");
  }
  if (!isEstablished(definition)) return ended("NeverEstablished", "resource was never established");
  const registry = registries.find({ group, resource: plural });
  if (registry?.info.form.kind === "struct") {
    return ended("OverlappingBuiltInResource", "instances overlap with built-in resources in storage");
  }
  if (registry === undefined) {
    // If the kind is not served, its instances would stay, and reappear with the next definition of this name.
    const failure = "could not list instances: the resource is not served";
    return { condition: terminating("True", "InstanceDeletionFailed", failure), isDone: false };
  }
  const failure = await deleteAll(registry);
  if (failure !== undefined) {
    return { condition: terminating("True", "InstanceDeletionFailed", failure), isDone: false };
  }
  const page = await registry.cacher.list({ prefix: registry.info.keyPrefix, limit: 1 });
  if (page.entries.length === 0) return ended("InstanceDeletionCompleted", "removed all instances");
  return { condition: inProgress, isDone: false };
}

/** @returns the reason why some could not be deleted */
async function deleteAll(registry: Registry): Promise<string | undefined> {
  const { keyPrefix, namespaced } = registry.info;
  const page = await registry.cacher.list({ prefix: keyPrefix });
  const failures: string[] = [];
  for (const entry of page.entries) {
    // Finalizers hold it, and another delete has no effect.
    if (isBeingDeleted(entry)) continue;
    const { key } = entry;
    const [namespace, name] = namespaced ? splitKey(key.slice(keyPrefix.length)) : ["", key.slice(keyPrefix.length)];
    try {
      await registry.delete(namespace, name, plainDeletion, context);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.code !== 404 && failures.length < failuresShownMax) failures.push(error.message);
    }
  }
  if (failures.length === 0) return undefined;
  return `could not issue all deletes: ${failures.length === 1 ? failures[0] : `[${failures.join(", ")}]`}`;
}

const failuresShownMax = 10;

function splitKey(rest: string): [namespace: string, name: string] {
  const at = rest.indexOf("/");
  return [rest.slice(0, at), rest.slice(at + 1)];
}

function ended(reason: string, message: string): DeletionProgress {
  return { condition: terminating("False", reason, message), isDone: true };
}

function terminating(status: Condition["status"], reason: string, message: string): Condition {
  return { type: "Terminating", status, reason, message };
}
