import { type FieldError, fieldError } from "../../api/field-error.ts";
import { everyField, type FieldSelector, parseFieldSelector } from "../../api/field-selector.ts";
import { everyLabel, type LabelSelector, parseLabelSelector } from "../../api/label-selector.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import { refuseBadToken } from "../../registry/continue-token.ts";
import { parseResourceVersion, resourceVersionProblem } from "../../registry/resource-version.ts";
import { refuseUnknownFields } from "../../registry/selection.ts";
import { type Query, queryFlag, queryValue } from "../../request/request-info.ts";
import { queryInteger } from "../query-integer.ts";

/** Query parameters of list, watch and deletecollection, validated. */
export interface ListOptions {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** Undefined if unset; 0 for any version. */
  readonly resourceVersion: number | undefined;
  readonly match: "" | "Exact" | "NotOlderThan";
  /** The limit; 0 for none. */
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/**
 * Reads and validates the options. The allowed combinations of resourceVersion and resourceVersionMatch are upstream's.
 * @throws StatusError 422 for options that contradict each other, 400 for others, 500 for a resourceVersion of a watch
 *     that is not a number
 */
export function parseListOptions(query: Query, info: ResourceInfo, watch: boolean): ListOptions {
  const timeoutSeconds = parseInteger(query, "timeoutSeconds");
  const limit = parseInteger(query, "limit");
  const labelText = queryValue(query, "labelSelector");
  const fieldText = queryValue(query, "fieldSelector");
  const labels = labelText === "" ? everyLabel : parseLabelSelector(labelText);
  const fields = fieldText === "" ? everyField : parseFieldSelector(fieldText);
  const text = queryValue(query, "resourceVersion");
  const match = queryValue(query, "resourceVersionMatch");
  const token = queryValue(query, "continue");
  const sendInitialEvents = query.has("sendInitialEvents") ? queryFlag(query, "sendInitialEvents") : undefined;
  // Upstream judges a watch by its parameter, so the old paths of watches follow the rules of lists.
  const errors = queryFlag(query, "watch")
    ? watchOptionErrors(match, text, token, sendInitialEvents)
    : listOptionErrors(match, text, token, sendInitialEvents);
  if (errors.length > 0) throw status.invalidOptions("ListOptions", errors);
  refuseUnknownFields(info, fields);
  if (token !== "" && !watch) {
    refuseBadToken(token);
    if (text !== "" && text !== "0") {
      throw status.badRequest("specifying resource version is not allowed when using continue");
    }
  }
  return {
    labels,
    fields,
    resourceVersion: parseListVersion(text, watch),
    match: match as ListOptions["match"],
    // Upstream's cache answers lists of any version ("0", and not "00"), and ignores their limit.
    limit: text === "0" && token === "" ? 0 : limit,
    continue: token,
    timeoutSeconds,
    allowWatchBookmarks: queryFlag(query, "allowWatchBookmarks"),
    sendInitialEvents,
  };
}

function listOptionErrors(
  match: string,
  version: string,
  token: string,
  sendInitialEvents: boolean | undefined,
): FieldError[] {
  const field = "resourceVersionMatch";
  const initial =
    sendInitialEvents === undefined
      ? []
      : [fieldError.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")];
  if (match === "") return initial;
  const errors: FieldError[] = [];
  if (version === "") {
    errors.push(fieldError.forbidden(field, `${field} is forbidden unless resourceVersion is provided`));
  }
  if (token !== "") {
    errors.push(fieldError.forbidden(field, `${field} is forbidden when continue is provided`));
  }
  if (match !== "Exact" && match !== "NotOlderThan") {
    errors.push(fieldError.notSupported(field, match, ["Exact", "NotOlderThan", ""]));
  }
  if (match === "Exact" && version === "0") {
    errors.push(fieldError.forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`));
  }
  return [...errors, ...initial];
}

function watchOptionErrors(
  match: string,
  version: string,
  token: string,
  sendInitialEvents: boolean | undefined,
): FieldError[] {
  const field = "resourceVersionMatch";
  const errors: FieldError[] = [];
  const continued =
    token === "" ? [] : [fieldError.forbidden(field, `${field} is forbidden when continue is provided`)];
  // Such a watch starts with the newest state, as if it asked for the initial events not older than any version.
  const isDefaulted = match === "" && sendInitialEvents === undefined && (version === "" || version === "0");
  if (isDefaulted) return continued;
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    errors.push(fieldError.forbidden(field, `sendInitialEvents requires setting ${field} to NotOlderThan`));
  }
  if (match === "") return errors;
  if (sendInitialEvents === undefined) {
    errors.push(fieldError.forbidden(field, `${field} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== "NotOlderThan") errors.push(fieldError.notSupported(field, match, ["NotOlderThan"]));
  return [...errors, ...continued];
}

function parseListVersion(text: string, watch: boolean): number | undefined {
  if (text === "") return undefined;
  const version = parseResourceVersion(text);
  if (version !== undefined) return version;
  const why = resourceVersionProblem(text);
  throw watch ? status.unconverted(why) : status.badRequest(`invalid resource version: ${why}`);
}

/** Returns 0 for absent, empty and negative values. */
function parseInteger(query: Query, name: string): number {
  return Math.max(0, Number(queryInteger(query, name) ?? 0));
}
