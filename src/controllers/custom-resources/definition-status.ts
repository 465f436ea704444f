import { equalJson } from "../../api/json.ts";
import { formatTime } from "../../api/time.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
} from "../../api/types/apiextensions-v1.ts";
import { emptyStatus } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { judgeNames, type TakenNames } from "./accepted-names.ts";
import { approvalCondition } from "./approval.ts";
import { type Condition, findCondition, isTrue, removeCondition, setCondition } from "./conditions.ts";

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

/** The facts, besides the definition itself, that determine its status. */
export interface StatusFacts {
  /** Accepted names of the other definitions of its group. */
  readonly others: readonly TakenNames[];
  /** The condition about its schemas, if they are not structural. */
  readonly nonStructural?: Condition | undefined;
  readonly nowMs: number;
}

/** Returns the definition with its names and conditions, or undefined if it already has them. */
export function withStatus(
  definition: CustomResourceDefinition,
  { others, nonStructural, nowMs }: StatusFacts,
): CustomResourceDefinition | undefined {
  const { spec, status: before = emptyStatus } = definition;
  const status = { ...before };
  const now = formatTime(nowMs);
  if (!equalJson(spec.names, before.acceptedNames) || findCondition(status, "NamesAccepted") === undefined) {
    const { names, conflict } = judgeNames(spec.names, before.acceptedNames, others);
    status.acceptedNames = names;
    setCondition(status, namesAccepted(conflict), now);
  }
  establish(status, spec, now);
  const approval = approvalCondition(spec.group, definition);
  if (approval !== undefined) setCondition(status, approval, now);
  if (nonStructural === undefined) removeCondition(status, "NonStructuralSchema");
  else setCondition(status, nonStructural, now);
  return equalJson(status, before) ? undefined : { ...definition, status };
}

function namesAccepted(conflict: { readonly reason: string; readonly message: string } | undefined): Condition {
  if (conflict !== undefined) return { type: "NamesAccepted", status: "False", ...conflict };
  return { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" };
}

/** Establishes a definition whose names are accepted. It stays established even if it requests other names later. */
function establish(status: CustomResourceDefinitionStatus, spec: CustomResourceDefinitionSpec, now: string): void {
  if (isTrue(status, "Established")) return;
  if (!isTrue(status, "NamesAccepted")) {
    const message = "not all names are accepted";
    setCondition(status, { type: "Established", status: "False", reason: "NotAccepted", message }, now);
    return;
  }
  setCondition(status, hasUsableAuthority(spec) ? established : invalidAuthority, now);
}

/** Reports whether the conversion webhook's authority contains a certificate. True if there is no authority. */
function hasUsableAuthority({ conversion }: CustomResourceDefinitionSpec): boolean {
  const bundle = conversion?.webhook?.clientConfig?.caBundle ?? "";
  if (bundle === "") return true;
  return Buffer.from(bundle, "base64").toString("latin1").includes("-----BEGIN CERTIFICATE-----");
}
