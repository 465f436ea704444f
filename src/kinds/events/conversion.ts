import type { Conversion } from "../../api/scheme/resource.ts";
import { inverted, renameFields } from "./rename-fields.ts";

/** Fields of events.k8s.io/v1 and their names in core/v1, the stored form of both. */
const storedNames: ReadonlyMap<string, string> = new Map([
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
]);
const servedNames = inverted(storedNames);

export const eventConversion: Conversion = {
  toStorage: (event) => renameFields(event, storedNames),
  fromStorage: (event) => renameFields(event, servedNames),
};
