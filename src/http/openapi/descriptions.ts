import { builtInKinds } from "../../kinds/index.ts";
import type { Kind } from "../../registry/kind.ts";
import { commonDescriptions } from "./common-descriptions.ts";

/** Texts about a type by field name; "" is the key of the text about the type itself. */
type TypeDescriptions = Readonly<Record<string, string | undefined>>;

const byType: ReadonlyMap<string, TypeDescriptions> = new Map(
  [commonDescriptions, ...Object.values<Kind>(builtInKinds).map(({ descriptions = {} }) => descriptions)].flatMap(
    (part) => Object.entries(part),
  ),
);

/** The same, for all versions: the meaning of a type or field seldom depends on the version. */
const byVersionlessType: ReadonlyMap<string, TypeDescriptions> = new Map(
  [...byType].map(([name, descriptions]) => [withoutVersion(name), descriptions]),
);

/** Descriptions of fields with these names in every top-level kind. */
const everywhere: TypeDescriptions = {
  metadata: "Name, labels and other metadata of the object.",
  spec: "The desired state.",
  status: "The most recently observed state; written by the system.",
};
const ofLists: TypeDescriptions = {
  metadata: "Resource version and paging of the list.",
  items: "The objects of the list.",
};

/** Descriptions of fields with these names that have no other. */
const anywhere: TypeDescriptions = {
  apiGroup: "API group of the object.",
  conditions: "Conditions, each with a status and a reason.",
  kind: "Kind of the object.",
  lastTransitionTime: "Time of the last change of status.",
  message: "Explanation for people.",
  name: "The name.",
  namespace: "The namespace.",
  observedGeneration: "Generation of the object at the time of the observation.",
  reason: "Reason in one word, for programs.",
  uid: "The UID.",
};
const ofConditions: TypeDescriptions = {
  "": "An observation.",
  type: "Name of the condition.",
  status: "True, False or Unknown.",
  lastUpdateTime: "Time of the last write of the condition.",
  lastProbeTime: "Time of the last check.",
};

/** Returns the text for `kubectl explain` and other readers of OpenAPI, or undefined. */
export function descriptionOf(typeName: string, field = ""): string | undefined {
  const known = byType.get(typeName)?.[field] ?? byVersionlessType.get(withoutVersion(typeName))?.[field];
  if (known !== undefined) return known;
  const kind = typeName.slice(typeName.indexOf(".") + 1);
  if (kind.endsWith("List"))
    return field === "" ? `A list of ${kind.slice(0, -"List".length)} objects.` : ofLists[field];
  const ofCondition = kind.endsWith("Condition") ? ofConditions[field] : undefined;
  return ofCondition ?? everywhere[field] ?? anywhere[field];
}

/** `resource/v1beta1.Device` → `resource.Device`. */
function withoutVersion(typeName: string): string {
  return typeName.replace(/\/[^.]*/, "");
}
