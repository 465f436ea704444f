import { EtcdError, type EtcdErrorKind } from "./client/etcd-error.ts";
import { numberOf, type WatchResponse } from "./client/messages.ts";

/** Parts of the reasons with which etcd denies a watch. It gives them as text only. */
const denials: readonly string[] = ["permission denied", "user name is empty"];

/** Returns the error of a response with which etcd cancels a watch. */
export function cancellationOf(response: WatchResponse): EtcdError {
  const { cancelReason } = response;
  return new EtcdError(kindOf(response), cancelReason === "" ? "etcd cancelled the watch" : cancelReason);
}

function kindOf({ compactRevision, cancelReason }: WatchResponse): EtcdErrorKind {
  if (numberOf(compactRevision) > 0) return "compacted";
  return denials.some((denial) => cancelReason.includes(denial)) ? "denied" : "interrupted";
}
