import type { Key } from "../api/entry.ts";

// Servers keep records of their own beside the objects. They belong to no API resource, and no client sees them.

/** Records by which servers find each other: of every server in a store of our own, of every API server on an etcd. */
export const masterLeasePrefix: Key = "/registry/masterleases/";
/** Records that only servers of this program have on an etcd. */
export const ownPrefix: Key = "/registry/quorate/";
/** Records by which they find each other. */
export const serverPrefix: Key = "/registry/quorate/servers/";
/** Allocated addresses and ports. */
export const rangePrefix: Key = "/registry/ranges/";
/** Usage of quotas, by `<namespace>/<server id>`. */
export const quotaChargePrefix: Key = "/registry/quotacharges/";
/** Takeovers of a leader's work, by the name of the work. */
export const takeoverPrefix: Key = "/registry/takeovers/";
