import type { Key } from "../../api/entry.ts";

/** The beginning of all keys of objects. */
export const rootPrefix: Key = "/registry/";
