import { cloneJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { isPresent, textOf } from "../../api/validation/fields.ts";

/**
 * What a claim is filled from has two fields. The older one ignores everything but claims and snapshots, as it did when
 * there was nothing else; then each shows what the other says. A source in another namespace has no older form.
 */
export function settleDataSource(claim: KubeObject, old?: KubeObject): void {
  const spec = fieldsOf(claim["spec"]);
  const hadSource = isPresent(fieldsOf(old?.["spec"])["dataSource"]);
  const { dataSource: older, dataSourceRef: newer } = spec;
  if (isPresent(newer)) {
    const { namespace, ...reference } = fieldsOf(newer);
    if (!isPresent(older) && textOf(namespace) === "") spec["dataSource"] = cloneJson(reference);
  } else if (isPresent(older)) {
    if (hadSource || isClaimOrSnapshot(fieldsOf(older))) spec["dataSourceRef"] = cloneJson(older);
    else delete spec["dataSource"];
  }
}

function isClaimOrSnapshot({ apiGroup, kind }: JsonObject): boolean {
  if (textOf(apiGroup) === "") return kind === "PersistentVolumeClaim";
  return apiGroup === "snapshot.storage.k8s.io" && kind === "VolumeSnapshot";
}
