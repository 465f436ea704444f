import { type LabelSelector, matchesLabels } from "../../../api/label-selector.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { RiskyStep, Steps } from "./behaviour.ts";

/** The containers that a rule is about. An absent criterion accepts all. */
export interface Match {
  readonly namespaces: readonly string[] | undefined;
  readonly labels: LabelSelector | undefined;
  /** Annotations that the pod has with exactly these values. */
  readonly annotations: readonly (readonly [name: string, value: string])[];
  /** Kinds of controllers, such as `Job`. A pod without one has the empty kind. */
  readonly owners: readonly string[] | undefined;
  /** Names of containers. */
  readonly containers: readonly string[] | undefined;
  /** Patterns of images, in which `*` stands for any text. */
  readonly images: readonly string[] | undefined;
}

/** One of the possible behaviours of a rule. */
export interface Choice {
  /** Greater than 0. */
  readonly weight: number;
  readonly steps: Steps;
}

/** A stage in the life of containers. */
export interface ContainerRule {
  readonly match: Match;
  /** One is drawn by weight for each run of a container. */
  readonly choices: readonly Choice[];
}

/** The pull of images with a name. */
export interface ImageRule extends RiskyStep {
  readonly names: readonly string[];
}

/** The first rule that matches decides. */
export interface SimulationRules {
  readonly images: readonly ImageRule[];
  readonly containers: readonly ContainerRule[];
}

export const noRules: SimulationRules = { images: [], containers: [] };

/** Pulls take a moment. Those from registries that cannot exist fail. */
const defaultImageRules: readonly ImageRule[] = [
  {
    names: ["invalid.*", "*.invalid/*"],
    afterMs: 100,
    jitterMs: 100,
    failureRate: 1,
    message: "no such host",
  },
  { names: ["*"], afterMs: 100, jitterMs: 200, failureRate: 0, message: "" },
];

export function imageRule({ images }: SimulationRules, image: string): ImageRule {
  const matches = ({ names }: ImageRule) => names.some((pattern) => matchesPattern(pattern, image));
  const rule = images.find(matches) ?? defaultImageRules.find(matches);
  if (rule === undefined) throw new Error("the last rule matches every image");
  return rule;
}

/** Returns the steps that the rules decide for a container; none if no rule matches. */
export function stepsByRule(
  { containers }: SimulationRules,
  pod: Pod,
  container: { readonly name: string; readonly image: string },
  random: () => number,
): Steps {
  const rule = containers.find(({ match }) => matchesContainer(match, pod, container));
  return rule === undefined ? {} : draw(rule.choices, random);
}

function matchesContainer(
  { namespaces, labels, annotations, owners, containers, images }: Match,
  { metadata }: Pod,
  { name, image }: { readonly name: string; readonly image: string },
): boolean {
  if (namespaces !== undefined && !namespaces.includes(metadata.namespace ?? "")) return false;
  if (labels !== undefined && !matchesLabels(labels, metadata.labels)) return false;
  if (annotations.some(([key, value]) => metadata.annotations?.[key] !== value)) return false;
  if (owners !== undefined && !owners.includes(controllerKind(metadata.ownerReferences))) return false;
  if (containers !== undefined && !containers.includes(name)) return false;
  return images === undefined || images.some((pattern) => matchesPattern(pattern, image));
}

/** Returns the kind of the owner that controls an object; "" without one. */
export function controllerKind(owners: Pod["metadata"]["ownerReferences"]): string {
  return owners?.find(({ controller }) => controller === true)?.kind ?? "";
}

function draw(choices: readonly Choice[], random: () => number): Steps {
  let left = random() * choices.reduce((sum, { weight }) => sum + weight, 0);
  for (const { weight, steps } of choices) {
    left -= weight;
    if (left < 0) return steps;
  }
  return choices.at(-1)?.steps ?? {};
}

/** Reports whether a text has the parts of a pattern between its `*`, in their order. Takes linear time for each part. */
function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  if (parts.length === 1) return text === pattern;
  const last = parts.at(-1) ?? "";
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
