import { equalJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatTime } from "../../api/time.ts";
import { objectOf, textOf } from "../../api/json-reading.ts";
import { hasItsNames, judgeNames } from "./accepted-names.ts";
import { approvalCondition } from "./approval.ts";
import { type Condition, findCondition, removeCondition, setCondition } from "./conditions.ts";

const established: Condition = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};
const invalidAuthority: Condition = {
  type: "Established",
  status: "False",
  reason: "InvalidCABundle",
  message: "The conversion webhook CABundle is invalid",
};

/** The facts that the status of a definition follows from, besides the definition. */
export interface StatusFacts {
  /** Accepted names of the other definitions of its group. */
  readonly others: readonly JsonObject[];
  /** The condition about its schemas, where they are not structural. */
  readonly nonStructural?: Condition | undefined;
  readonly nowMs: number;
}

/**
 * Returns the definition with the names that it gets and the conditions that follow, or undefined when all of that is
 * there already.
 */
export function withStatus(
  definition: KubeObject,
  { others, nonStructural, nowMs }: StatusFacts,
): KubeObject | undefined {
  const spec = objectOf(definition["spec"]);
  const before = objectOf(definition["status"]);
  const status: JsonObject = { ...before };
  const now = formatTime(nowMs);
  const wanted = objectOf(spec["names"]);
  const accepted = objectOf(before["acceptedNames"]);
  if (!hasItsNames(wanted, accepted) || findCondition(status, "NamesAccepted") === undefined) {
    const { names, conflict } = judgeNames(wanted, accepted, others);
    status["acceptedNames"] = names;
    setCondition(status, namesAccepted(conflict), now);
  }
  establish(status, spec, now);
  const approval = approvalCondition(textOf(spec["group"]), definition);
  if (approval !== undefined) setCondition(status, approval, now);
  if (nonStructural === undefined) removeCondition(status, "NonStructuralSchema");
  else setCondition(status, nonStructural, now);
  return equalJson(status, before) ? undefined : { ...definition, status };
}

function namesAccepted(conflict: { readonly reason: string; readonly message: string } | undefined): Condition {
  if (conflict !== undefined) return { type: "NamesAccepted", status: "False", ...conflict };
  return { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" };
}

/** A definition that is established stays so, whatever names it asks for later. */
function establish(status: JsonObject, spec: JsonObject, now: string): void {
  if (findCondition(status, "Established")?.["status"] === "True") return;
  if (findCondition(status, "NamesAccepted")?.["status"] !== "True") {
    const message = "not all names are accepted";
    setCondition(status, { type: "Established", status: "False", reason: "NotAccepted", message }, now);
    return;
  }
  setCondition(status, hasUsableAuthority(spec) ? established : invalidAuthority, now);
}

/** Reports whether the authority of the conversion webhook holds a certificate, where one is given. */
function hasUsableAuthority(spec: JsonObject): boolean {
  const webhook = objectOf(objectOf(spec["conversion"])["webhook"]);
  const bundle = textOf(objectOf(webhook["clientConfig"])["caBundle"]);
  if (bundle === "") return true;
  return Buffer.from(bundle, "base64").toString("latin1").includes("-----BEGIN CERTIFICATE-----");
}

export function groupOf(definition: KubeObject): string {
  return textOf(objectOf(definition["spec"])["group"]);
}

/** The part of a definition that others of its group have to know. */
export interface GroupMember {
  readonly name: string;
  readonly group: string;
  readonly acceptedNames: JsonObject;
  /** Some of its names are still to be accepted. */
  readonly isWaiting: boolean;
}

export function groupMember(definition: KubeObject): GroupMember {
  const acceptedNames = objectOf(objectOf(definition["status"])["acceptedNames"]);
  return {
    name: definition.metadata.name ?? "",
    group: groupOf(definition),
    acceptedNames,
    isWaiting: !hasItsNames(objectOf(objectOf(definition["spec"])["names"]), acceptedNames),
  };
}
