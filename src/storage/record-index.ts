import type { ObjectIndex } from "../api/entry.ts";

/** The index of every record that servers keep for themselves: nobody searches for one. */
export const recordIndex: ObjectIndex = {
  apiVersion: "v1",
  uid: "",
  labels: undefined,
  fields: undefined,
  owners: undefined,
};
