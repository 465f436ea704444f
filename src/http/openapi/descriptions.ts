import { accessDescriptions } from "./descriptions/access.ts";
import { clusterDescriptions } from "./descriptions/cluster.ts";
import { eventAndLeaseDescriptions } from "./descriptions/event-and-lease.ts";
import { extensionDescriptions } from "./descriptions/extension.ts";
import { metaDescriptions } from "./descriptions/meta.ts";
import { networkingDescriptions } from "./descriptions/networking.ts";
import { nodeDescriptions } from "./descriptions/node.ts";
import { podDescriptions } from "./descriptions/pod.ts";
import { smallKindDescriptions } from "./descriptions/small-kinds.ts";
import { storageDescriptions } from "./descriptions/storage.ts";
import { workloadDescriptions } from "./descriptions/workloads.ts";
import { builtInKinds } from "../../kinds/index.ts";
import type { Kind, TypeDescriptions } from "../../registry/kind.ts";

const byType: ReadonlyMap<string, TypeDescriptions> = new Map(
  [
    metaDescriptions,
    smallKindDescriptions,
    podDescriptions,
    nodeDescriptions,
    eventAndLeaseDescriptions,
    workloadDescriptions,
    networkingDescriptions,
    storageDescriptions,
    accessDescriptions,
    extensionDescriptions,
    clusterDescriptions,
    ...Object.values<Kind>(builtInKinds).map(({ descriptions = {} }) => descriptions),
  ].flatMap((part) => Object.entries(part)),
);

/** The same without versions: what a type or field means seldom depends on them. */
const byVersionlessType: ReadonlyMap<string, TypeDescriptions> = new Map(
  [...byType].map(([name, descriptions]) => [withoutVersion(name), descriptions]),
);

/** Descriptions of fields with these names in every top-level kind. */
const everywhere: TypeDescriptions = {
  metadata: "Name, labels and other data that every object has.",
  spec: "The state that is wanted.",
  status: "The state that was observed last; written by the system.",
};
const ofLists: TypeDescriptions = {
  metadata: "Resource version and paging of the list.",
  items: "The objects of the list.",
};

/** Descriptions of fields with these names where nothing else applies. */
const anywhere: TypeDescriptions = {
  apiGroup: "API group of the object.",
  conditions: "What was observed, each with a status and a reason.",
  kind: "Kind of the object.",
  lastTransitionTime: "When the status changed last.",
  message: "Why, for people.",
  name: "The name.",
  namespace: "The namespace.",
  observedGeneration: "The generation of the object that was looked at.",
  reason: "Why, in one word.",
  uid: "The UID.",
};
const ofConditions: TypeDescriptions = {
  "": "One thing that was observed.",
  type: "Name of the condition.",
  status: "True, False or Unknown.",
  lastUpdateTime: "When the condition was written last.",
  lastProbeTime: "When it was looked at last.",
};

/** A description for `kubectl explain` and the like; undefined when there is none. */
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
