import type { Command, Expect, Premise } from "../store.ts";
import {
  type Compare,
  compareResult,
  compareTarget,
  numberOf,
  type RequestOp,
  type TxnRequest,
  type TxnResponse,
} from "./client/messages.ts";
import type { EtcdLayout } from "./layout/layout.ts";

/** Returns the transaction of a command. If a guard fails, it reads the key and then the premises. */
export function transactionOf(
  { key, expect, premises = [], operation }: Command,
  layout: EtcdLayout,
  value: Uint8Array | undefined,
  lease: number | undefined,
): TxnRequest {
  const etcdKey = layout.etcdKey(key);
  const compare = [
    ...premises.map((premise) => hasRevision(layout.etcdKey(premise.key), premise.revision)),
    ...guardOf(etcdKey, expect, operation.kind),
  ];
  const write: RequestOp =
    value === undefined
      ? { deleteRange: { key: etcdKey } }
      : { put: { key: etcdKey, value, ...(lease === undefined ? {} : { lease }) } };
  const failure: RequestOp[] = [
    { range: { key: etcdKey } },
    ...premises.map((premise) => ({ range: { key: layout.etcdKey(premise.key), keysOnly: true } })),
  ];
  return { compare, success: [write], failure };
}

/** Reports whether a refused transaction found all premises as its command expects them. */
export function premisesHold(premises: readonly Premise[], { responses }: TxnResponse): boolean {
  return premises.every(({ revision }, at) => {
    const [kv] = responses[at + 1]?.range?.kvs ?? [];
    return kv !== undefined && numberOf(kv.modRevision) === revision;
  });
}

function guardOf(etcdKey: string, expect: Expect, kind: "put" | "delete"): Compare[] {
  if (expect.kind === "revision") return [hasRevision(etcdKey, expect.revision)];
  if (expect.kind === "absent") return [hasRevision(etcdKey, 0)];
  return kind === "put" ? [] : [{ ...hasRevision(etcdKey, 0), result: compareResult.notEqual }];
}

/** A key that does not exist has revision 0. */
function hasRevision(key: string, modRevision: number): Compare {
  return { result: compareResult.equal, target: compareTarget.modRevision, key, modRevision };
}
