/** Position of an entry in the log, counted from 1. 0 is the position before the first entry. */
export type Index = number & { readonly brand: "Index" };

/** Election term, counted from 1. 0 is the time before the first election. Each term has at most one leader. */
export type Term = number & { readonly brand: "Term" };

/** A positive member id. It is never reused, not even after the member was removed. */
export type MemberId = number & { readonly brand: "MemberId" };

/** The id of a proposal or read, unique on the member that made it, even across restarts. */
export type RequestId = number & { readonly brand: "RequestId" };

export const noIndex = 0 as Index;
export const noTerm = 0 as Term;
/** Stands for no member, such as no vote given or no known leader. */
export const noMember = 0 as MemberId;

/**
 * Converts a number. @throws RangeError for a negative or fractional number, or one that a double cannot count exactly
 */
export function toIndex(value: number): Index {
  return counted(value, "index") as Index;
}

/** Converts a number. @throws RangeError as `toIndex` does */
export function toTerm(value: number): Term {
  return counted(value, "term") as Term;
}

/** Converts a number. @throws RangeError unless it is a positive integer that a double counts exactly */
export function toMemberId(value: number): MemberId {
  if (value === 0) throw new RangeError("raft: 0 names no member");
  return counted(value, "member id") as MemberId;
}

/** Converts a number. @throws RangeError as `toIndex` does */
export function toRequestId(value: number): RequestId {
  return counted(value, "request id") as RequestId;
}

function counted(value: number, what: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`raft: ${value} is no ${what}`);
  return value;
}
