import type { Node, NodeCondition, Taint } from "../../api/types/core-v1.ts";

/** Label of nodes whose health does not count for their zone. */
const exclusionLabel = "node.kubernetes.io/exclude-disruption";

/** The facts about a node that the controllers use. They are kept in place of the node, which is much larger. */
export interface NodeState {
  readonly name: string;
  readonly uid: string;
  /** RFC 3339. */
  readonly created: string;
  readonly zone: string;
  readonly isExcluded: boolean;
  /** Undefined until the node or a controller has reported it. */
  readonly ready: NodeCondition | undefined;
  readonly taints: readonly Taint[];
}

export function nodeStateOf({ metadata, spec, status }: Node): NodeState {
  const { name = "", uid = "", creationTimestamp, labels = {} } = metadata;
  return {
    name,
    uid,
    created: creationTimestamp ?? "",
    zone: zoneOf(labels),
    isExcluded: exclusionLabel in labels,
    ready: readyConditionOf(status?.conditions),
    taints: spec?.taints ?? [],
  };
}

export function readyConditionOf(conditions: readonly NodeCondition[] | undefined): NodeCondition | undefined {
  return conditions?.find(({ type }) => type === "Ready");
}

/** Returns the name of a zone as in upstream's metrics; empty if the node has neither region nor zone. */
export function zoneOf(labels: Readonly<Record<string, string>>): string {
  const region = labels["failure-domain.beta.kubernetes.io/region"] ?? labels["topology.kubernetes.io/region"] ?? "";
  const zone = labels["failure-domain.beta.kubernetes.io/zone"] ?? labels["topology.kubernetes.io/zone"] ?? "";
  return region === "" && zone === "" ? "" : `${region}:\0:${zone}`;
}
