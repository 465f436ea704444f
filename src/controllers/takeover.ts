import type { FindPremise } from "../registry/admission.ts";
import { recordIndex } from "../storage/record-index.ts";
import { takeoverPrefix } from "../storage/record-prefixes.ts";
import type { Store } from "../storage/store.ts";
import { RetryError } from "./work-queue.ts";

/**
 * Takes over work from an earlier leader that may not know yet that it no longer leads. Afterwards, all of its writes
 * that depend on its own takeover are either visible here or refused.
 * @param lost called when somebody else has taken over
 * @returns the premise of this leader's writes
 */
export async function takeOver(store: Store, work: string, lost: () => void): Promise<FindPremise> {
  const key = takeoverPrefix + work;
  const body = {
    prefix: Buffer.from(`{"metadata":{"name":"${work}","resourceVersion":"`),
    suffix: Buffer.from('"}}'),
  };
  const result = await store.commit({
    key,
    expect: { kind: "any" },
    operation: { kind: "put", index: recordIndex, body },
  });
  const mine = result.kind === "applied" ? result.revision : undefined;
  return () => {
    const current = store.get(key);
    if (current !== undefined && current.revision === mine) return current;
    lost();
    throw new RetryError(`another leader has taken over ${work}`);
  };
}
