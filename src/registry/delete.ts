import type { Entry } from "../api/entry.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Admission } from "./admission.ts";
import { admissionAttributes } from "./admission-attributes.ts";
import { deleteOptionsObject } from "./delete-options.ts";
import { beginDeletion, checkDeletePreconditions, checkReadPreconditions, deletionResult } from "./deletion.ts";
import { Settlement } from "./settlement.ts";
import { type StoredKind, withRevision } from "./stored-kind.ts";
import type { DeleteOptions } from "./strategy.ts";
import type { DeleteResult, WriteContext } from "./write-context.ts";

/** Makes one attempt; returns undefined if another writer was faster and the caller has to retry. */
export async function deleteObject(
  kind: StoredKind,
  entry: Entry,
  namespace: string,
  options: DeleteOptions,
  context: WriteContext,
  admission: Admission = kind.parts.admission,
): Promise<DeleteResult | undefined> {
  const old = await kind.decode(entry, context.signal);
  const checkPreconditions =
    kind.parts.strategy.readsBeforeDelete === true ? checkReadPreconditions : checkDeletePreconditions;
  checkPreconditions(old, options, kind.info);
  const settlement = new Settlement();
  const attributes = admissionAttributes({
    operation: "DELETE",
    info: kind.info,
    subresource: "",
    namespace,
    object: undefined,
    oldObject: old,
    context,
    deleteOptions: deleteOptionsObject(options),
    onSettled: settlement.add,
  });
  return settlement.run(
    async () => {
      if (context.skipsAdmission !== true) {
        await admission.admit(attributes);
        await admission.validate(attributes);
      }
      return removeOrMark(kind, entry, old, options, context);
    },
    (result) => result?.removed === true && !context.dryRun,
  );
}

async function removeOrMark(
  kind: StoredKind,
  entry: Entry,
  old: KubeObject,
  options: DeleteOptions,
  context: WriteContext,
): Promise<DeleteResult | undefined> {
  const { info, strategy, clock } = kind.parts;
  const next = beginDeletion(old, strategy, options, clock.nowMs());
  const result = (object: KubeObject, left: Entry | undefined, removed: boolean) =>
    deletionResult(info, strategy, { object, entry: left, removed, options });
  if (next.kind === "unchanged") return result(old, entry, false);
  if (next.kind === "remove") {
    if (!context.dryRun && (await kind.remove(entry, context)) === undefined) return undefined;
    return next.marked === undefined ? result(old, entry, true) : result(next.marked, undefined, true);
  }
  const canonical = kind.canonical(next.object, old);
  if (context.dryRun) return result(canonical, undefined, false);
  const applied = await kind.put(canonical, entry.key, entry, context);
  if (applied.kind === "rejected") return undefined;
  return result(withRevision(canonical, applied.entry), applied.entry, false);
}
