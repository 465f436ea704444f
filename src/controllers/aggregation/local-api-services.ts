import type { GroupVersion } from "../../api/gvk.ts";
import { equalJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import { allApis, type ServedApis } from "../../kinds/apiregistration/api-services.ts";
import { automaticApiService, type Upkeep, upkeepOf } from "../../kinds/apiregistration/automatic-api-service.ts";
import { builtInPriority } from "../../kinds/apiregistration/group-priorities.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registry } from "../../registry/registry.ts";
import { apiServerContext } from "../../registry/server-context.ts";

export interface LocalApiServicesParts {
  /** Registry of APIServices. */
  readonly registry: Registry;
  readonly apis: ServedApis;
}

/** Returns the APIServices of the built-in group versions that this server serves. */
function builtInApiServices(served: readonly GroupVersion[]): APIService[] {
  return served.flatMap((groupVersion) => {
    const priority = builtInPriority(groupVersion);
    return priority === undefined ? [] : [automaticApiService(groupVersion, priority, "onstart")];
  });
}

/**
 * Corrects the APIServices of the built-in kinds once, when a server starts. Removes those of versions that are no longer
 * served.
 */
export async function ensureBuiltInApiServices(
  parts: LocalApiServicesParts,
  served: readonly GroupVersion[],
): Promise<void> {
  const wanted = builtInApiServices(served);
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const outdated = allApis(parts.apis).filter(
    ({ apiService }) => upkeepOf(apiService) === "onstart" && !names.has(apiService.metadata.name),
  );
  await Promise.all([
    ...wanted.map((apiService) => settleApiService(parts.registry, apiService.metadata.name ?? "", apiService)),
    ...outdated.map(({ apiService }) => remove(parts.registry, apiService)),
  ]);
}

/**
 * Creates, updates or removes the APIService of one group version. Leaves one alone that an administrator has created or
 * taken over.
 * @param wanted undefined if this server does not serve the group version
 * @param among the ways of maintenance for which the caller is responsible
 */
export async function settleApiService(
  registry: Registry,
  name: string,
  wanted: APIService | undefined,
  among: readonly Upkeep[] = ["onstart", "true"],
): Promise<void> {
  const current = registry.current("", name) as APIService | undefined;
  if (current === undefined) {
    if (wanted !== undefined) await orOvertaken(registry.create(wanted as unknown as KubeObject, "", apiServerContext));
    return;
  }
  const upkeep = upkeepOf(current);
  if (upkeep === undefined || !among.includes(upkeep)) return;
  if (wanted === undefined) return remove(registry, current);
  if (equalJson((current.spec ?? {}) as JsonObject, (wanted.spec ?? {}) as JsonObject)) return;
  const replaced = (old: KubeObject) =>
    upkeepOf(old as APIService) === undefined ? old : ({ ...old, spec: wanted.spec } as KubeObject);
  await orOvertaken(registry.update("", name, replaced, apiServerContext));
}

async function remove(registry: Registry, { metadata: { name = "", uid } }: APIService): Promise<void> {
  const options = { ...plainDeletion, preconditions: { uid, resourceVersion: undefined } };
  await orOvertaken(registry.delete("", name, options, apiServerContext));
}

/** Ignores the error if another server or an administrator was faster, because their change is checked too. */
async function orOvertaken(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof StatusError && (error.code === 409 || error.code === 404))) throw error;
  }
}
