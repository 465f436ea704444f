import { formatTime } from "../api/time.ts";
import { apiVersionOf } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { FieldSet } from "../apply/managed-fields/field-set.ts";
import { fieldElement } from "../apply/managed-fields/path-element.ts";
import { compareForUpdate } from "../apply/managed-fields/update-manager.ts";
import { fromStorage } from "../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";

/** Who writes what, by which way. */
export interface FieldWriter {
  readonly manager: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** Top-level fields that the way neither changes nor owns. */
  readonly resetFields: readonly string[];
  /** The version that the writer uses: its fields are the ones that are owned. */
  readonly version: ResourceInfo;
  /** All served versions, for entries of writers that used another one. */
  readonly versions: readonly ResourceInfo[] | undefined;
  readonly nowMs: number;
}

/**
 * Brings the managedFields of an object up to date with what is written. Both objects are in their stored form; `old`
 * is undefined for a creation. Compares them at once; what it returns writes the managedFields.
 */
export function trackFields(old: KubeObject | undefined, object: KubeObject, writer: FieldWriter): () => void {
  const { manager, subresource, resetFields, version, versions, nowMs } = writer;
  const update = compareForUpdate({
    ...inVersion(version),
    manager,
    apiVersion: apiVersionOf(version),
    inVersion(apiVersion) {
      const other = versions?.find((served) => apiVersionOf(served) === apiVersion);
      return other && inVersion(other);
    },
    subresource,
    now: formatTime(nowMs),
    resetFields: resetSetOf(resetFields),
  });
  return () => {
    const entries = update();
    if (entries === undefined || entries.length === 0) delete object.metadata.managedFields;
    else object.metadata.managedFields = entries;
  };

  function inVersion(info: ResourceInfo) {
    return { old: old && fromStorage(old, info), new: fromStorage(object, info), schema: info.schema };
  }
}

const resetSets = new Map<string, FieldSet>();

/** The set of a Strategy's reset fields; there are as many as there are different Strategies. */
function resetSetOf(fields: readonly string[]): FieldSet {
  const key = fields.join();
  let set = resetSets.get(key);
  if (set === undefined) {
    set = FieldSet.of(...fields.map((name) => [fieldElement(name)]));
    resetSets.set(key, set);
  }
  return set;
}
