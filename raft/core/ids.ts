/** Position of an entry in the log, counted from 1; 0 is the place before the first entry. */
export type Index = number & { readonly brand: "Index" };

/** A leader's reign, counted from 1; 0 is the time before the first election. At most one leader per term. */
export type Term = number & { readonly brand: "Term" };

/** A member of the cluster; never given to another member again, not even after its removal. Positive. */
export type MemberId = number & { readonly brand: "MemberId" };

/** Names a proposal or read to the member that made it; unique there, also over its restarts. */
export type RequestId = number & { readonly brand: "RequestId" };

export const noIndex = 0 as Index;
export const noTerm = 0 as Term;
/** Stands for "nobody": no vote given, no leader known. */
export const noMember = 0 as MemberId;

/** @throws RangeError when the number is no position: negative, fractional or beyond what a double counts exactly. */
export function toIndex(value: number): Index {
  return counted(value, "index") as Index;
}

/** @throws RangeError as `toIndex` does. */
export function toTerm(value: number): Term {
  return counted(value, "term") as Term;
}

/** @throws RangeError for anything but a positive integer that a double counts exactly. */
export function toMemberId(value: number): MemberId {
  if (value === 0) throw new RangeError("raft: 0 names no member");
  return counted(value, "member id") as MemberId;
}

/** @throws RangeError as `toIndex` does. */
export function toRequestId(value: number): RequestId {
  return counted(value, "request id") as RequestId;
}

function counted(value: number, what: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`raft: ${value} is no ${what}`);
  return value;
}
