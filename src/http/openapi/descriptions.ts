import { eventAndLeaseDescriptions } from "./descriptions/event-and-lease.ts";
import { metaDescriptions } from "./descriptions/meta.ts";
import { nodeDescriptions } from "./descriptions/node.ts";
import { podDescriptions } from "./descriptions/pod.ts";
import { smallKindDescriptions } from "./descriptions/small-kinds.ts";

/** Texts of one type by field name; `""` is the type itself. */
export type TypeDescriptions = Readonly<Record<string, string>>;

const byType: ReadonlyMap<string, TypeDescriptions> = new Map(
  [metaDescriptions, smallKindDescriptions, podDescriptions, nodeDescriptions, eventAndLeaseDescriptions].flatMap(
    (part) => Object.entries(part),
  ),
);

/** What fields of these names mean in every top-level kind. */
const everywhere: TypeDescriptions = {
  metadata: "Name, labels and other data that every object has.",
  spec: "The state that is wanted.",
  status: "The state that was observed last; written by the system.",
};
const ofLists: TypeDescriptions = {
  metadata: "Resource version and paging of the list.",
  items: "The objects of the list.",
};

/** A description for `kubectl explain` and the like; undefined when there is none. */
export function descriptionOf(typeName: string, field = ""): string | undefined {
  const known = byType.get(typeName)?.[field];
  if (known !== undefined) return known;
  const kind = typeName.slice(typeName.indexOf(".") + 1);
  if (!kind.endsWith("List")) return everywhere[field];
  return field === "" ? `A list of ${kind.slice(0, -"List".length)} objects.` : ofLists[field];
}
